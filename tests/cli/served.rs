//! Thin bundles with clones of repositories on a server.

use super::project::{Project, wait_for};
use crate::support::needs::tests;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

tests! {
    git_daemon: [
        a_thin_bundle_replays_beside_clones_of_what_a_server_has,
    ]
}

/// `git daemon` for the repositories below a project's directory, on this machine only.
struct Daemon(Child, u16);

impl Daemon {
    fn of(project: &Project, folder: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut daemon = project.program("git");
        daemon.args([
            "daemon",
            "--listen=127.0.0.1",
            "--export-all",
            "--base-path=.",
        ]);
        daemon
            .arg(format!("--port={port}"))
            .current_dir(project.path(folder));
        let child = daemon
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("the server", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Self(child, port)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a run in which a reviewer's commit was undone and is in no branch.
fn ran() -> Project {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR r\n");
    project.agent("1.PRE-CR/1) commit app src/main/x.txt; verdict PASS ok ;;");
    project.ralph(&["run"]).code(0);
    project
}

fn a_thin_bundle_replays_beside_clones_of_what_a_server_has() {
    let project = ran();
    project.git("", &["init", "--quiet", "--bare", "served/app.git"]);
    let daemon = Daemon::of(&project, "served");
    let here = format!("file://{}", project.path("served/app.git").display());
    for address in [here, format!("git://127.0.0.1:{}/app.git", daemon.1)] {
        project.git("src/app", &["remote", "add", "origin", &address]);
        project.git(
            "src/app",
            &["push", "--quiet", "../../served/app.git", "main"],
        );
        project.ralph(&["bundle", "--thin", "run.tar"]).code(0);

        let elsewhere = Project::empty();
        elsewhere.write("run.tar", project.bytes("run.tar"));
        let replay = ["replay", "--bundle", "run.tar"];
        let done = elsewhere.ralph(&replay).code(3);
        assert!(
            done.err
                .contains(&format!("hint: clone {address} to src/app, and fetch ")),
            "{}",
            done.err
        );
        // The undone commit is in no branch: it must be sent, and fetched.
        elsewhere.git("", &["clone", "--quiet", &address, "src/app"]);
        let done = elsewhere.ralph(&replay).code(3);
        assert!(
            done.err.contains("are not in its repository"),
            "{}",
            done.err
        );
        let all = "+refs/ralph/*:refs/ralph/*";
        project.git("src/app", &["push", "--quiet", "../../served/app.git", all]);
        elsewhere.git("src/app", &["fetch", "--quiet", "origin", all]);
        elsewhere.ralph(&replay).code(0);

        project.git("src/app", &["remote", "remove", "origin"]);
        fs_err::remove_dir_all(project.path("served/app.git")).unwrap();
        project.git("", &["init", "--quiet", "--bare", "served/app.git"]);
    }
}
