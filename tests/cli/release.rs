//! The scripts of `.github/release`, with a program of two lines in place of ralph, and once with ralph.

use super::project::{Done, Project};
use crate::support::needs::tests;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

tests! {
    nothing: [
        a_release_needs_a_tag_of_its_version_and_entries_in_the_changelog,
        an_archive_has_the_name_that_cargo_binstall_asks_for,
        the_crate_gets_the_address_of_its_repository,
        an_image_gets_the_program_of_its_processor,
    ]
    curl: [
        the_installer_refuses_what_it_cannot_trust,
    ]
    scripts deep: [
        npm_installs_the_program_of_its_platform,
    ]
    nothing deep: [
        a_packed_program_runs_the_loop_of_the_demo,
    ]
}

const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
];
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Copies what the scripts read, so that a test may change it.
fn checkout() -> Project {
    let project = Project::empty();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in [
        "Cargo.toml",
        "CHANGELOG.md",
        "README.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
    ] {
        project.write(file, fs_err::read(root.join(file)).unwrap());
    }
    for folder in ["templates", ".github"] {
        symlink(root.join(folder), project.path(folder)).unwrap();
    }
    project.write(
        "ralph",
        format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo ralph {VERSION}; exit; fi\necho \"$$ $*\"\nexit 7\n"
        ),
    );
    project
}

/// Runs a script of the release in the checkout.
fn run(project: &Project, script: &str, args: &[&str]) -> Done {
    let mut sh = project.program("sh");
    sh.arg(format!(".github/release/{script}"))
        .args(args)
        .current_dir(project.path(""));
    Project::finish(sh)
}

/// Makes all files of a release.
fn release() -> Project {
    let project = checkout();
    for target in TARGETS {
        run(&project, "package.sh", &[target, "ralph"]).code(0);
    }
    project
}

fn a_release_needs_a_tag_of_its_version_and_entries_in_the_changelog() {
    let project = checkout();
    let tag = format!("v{VERSION}");
    let entries = format!("- One.\n\n## [{VERSION}] - 2026-01-01\n\n### Added\n\n- Two.\n\n");
    let log = |middle: &str| {
        format!("# Changelog\n\n## [Unreleased]\n\n{middle}## [0.0.1]\n\n- Three.\n")
    };
    project.write("CHANGELOG.md", log(&entries));
    let notes = run(&project, "changelog.sh", &[&tag]).code(0);
    assert!(
        notes.out.contains("- Two.")
            && !notes.out.contains("- One.")
            && !notes.out.contains("- Three."),
        "{}",
        notes.out
    );
    let empty = format!("- One.\n\n## [{VERSION}]\n\nNothing.\n\n");
    for text in [log("- One.\n\n"), log(&empty)] {
        project.write("CHANGELOG.md", text);
        let refused = run(&project, "changelog.sh", &[&tag]).code(1);
        assert!(refused.err.contains("has no entries"), "{}", refused.err);
        assert_eq!(refused.out, "");
    }
    for other in ["v99.0.0", VERSION, "main"] {
        let refused = run(&project, "changelog.sh", &[other]).code(1);
        assert!(
            refused.err.contains("Cargo.toml has the version"),
            "{}",
            refused.err
        );
    }
}

fn an_archive_has_the_name_that_cargo_binstall_asks_for() {
    let project = checkout();
    let target = TARGETS[0];
    let cargo = project.read("Cargo.toml");
    let setting = |name: &str| {
        let line = cargo
            .lines()
            .find(|line| line.starts_with(&format!("{name} = ")));
        let text = line.unwrap().split('"').nth(1).unwrap().to_owned();
        [
            ("{ repo }", "https://example.org/ralph"),
            ("{ version }", VERSION),
            ("{ name }", env!("CARGO_PKG_NAME")),
            ("{ target }", target),
            ("{ archive-suffix }", ".tar.gz"),
            ("{ bin }", "ralph"),
            ("{ binary-ext }", ""),
        ]
        .iter()
        .fold(text, |text, (key, value)| text.replace(key, value))
    };
    let archive = run(&project, "package.sh", &[target, "ralph"]).code(0).out;
    let archive = archive.trim_end();
    let url = setting("pkg-url");
    assert_eq!(
        url,
        format!(
            "https://example.org/ralph/releases/download/v{VERSION}/{}",
            &archive[5..]
        )
    );
    let first = project.bytes(archive);
    run(&project, "package.sh", &[target, "ralph"]).code(0);
    assert_eq!(
        project.bytes(archive),
        first,
        "the same files are the same bytes"
    );

    let mut tar = project.program("tar");
    tar.args(["-tzf", archive]).current_dir(project.path(""));
    let names = Project::finish(tar).code(0).out;
    let program = setting("bin-dir");
    for name in [
        &*program,
        &format!("ralph-loop-{VERSION}-{target}/templates/hooks/pre-push"),
    ] {
        assert!(names.lines().any(|line| line == name), "{name}: {names}");
    }
}

fn the_crate_gets_the_address_of_its_repository() {
    let project = checkout();
    run(&project, "crate.sh", &["octo/ralph"]).code(0);
    let text = project.read("Cargo.toml");
    let added = format!(
        "repository = \"https://github.com/octo/ralph\"\ndocumentation = \"https://github.com/octo/ralph/blob/v{VERSION}/docs/introduction.md\"\n"
    );
    let before =
        fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    assert!(text.contains(&added), "{text}");
    assert_eq!(text.replace(&added, ""), before);
}

fn an_image_gets_the_program_of_its_processor() {
    let project = checkout();
    let processors = [(TARGETS[0], "x86_64"), (TARGETS[1], "aarch64")];
    for (target, _) in processors {
        project.write("program", target);
        run(&project, "package.sh", &[target, "program"]).code(0);
    }
    let dockerfile = project.read("templates/ci/Dockerfile");
    let (_, command) = dockerfile.split_once("\nRUN ").unwrap();
    let (command, _) = command.split_once("\n\n").unwrap();
    let bin = project.path("bin");
    fs_err::create_dir(&bin).unwrap();
    let command = command
        .replace("/archives", project.path("dist").to_str().unwrap())
        .replace("/usr/local/bin", bin.to_str().unwrap());
    for (target, processor) in processors {
        project.tool("uname", &format!("echo {processor}"));
        let mut sh = project.program("sh");
        sh.args(["-c", &command]);
        Project::finish(sh).code(0);
        assert_eq!(project.read("bin/ralph"), target);
    }
}

fn the_installer_refuses_what_it_cannot_trust() {
    let project = release();
    // npm packs in another test. Here the rest of the release is enough.
    project.tool("npm", "");
    run(&project, "assemble.sh", &["Octo/ralph"]).code(0);
    let refused = run(&project, "assemble.sh", &["Octo/ralph|x"]).code(1);
    assert!(
        refused.err.contains("is not OWNER/REPOSITORY"),
        "{}",
        refused.err
    );
    let script = project.read("dist/install.sh");
    assert!(
        !script.contains("@VERSION@") && !script.contains("@SHA256"),
        "{script}"
    );

    let from = format!("file://{}", project.path("dist").display());
    let install = |system: &str| {
        project.tool(
            "uname",
            &format!("set -- $1 {system}\ncase $1 in -s) echo $2 ;; *) echo $3 ;; esac"),
        );
        let mut sh = project.program("sh");
        sh.arg(project.path("dist/install.sh"))
            .env("RALPH_DOWNLOAD", &from);
        Project::finish(sh)
    };
    let program = project.path("../home/.local/bin/ralph");
    let ends_without_a_program = |done: Done, reason: &str| {
        assert!(
            done.code == 1 && done.err.contains(reason),
            "{} {}",
            done.code,
            done.err
        );
        assert!(!program.exists());
    };
    for platform in ["SunOS i86pc", "Linux riscv64", "Darwin riscv64"] {
        let reason = format!("There is no program for {platform}.");
        ends_without_a_program(install(platform), &reason);
    }

    let archive = format!("dist/ralph-loop-{VERSION}-{}.tar.gz", TARGETS[1]);
    let bytes = project.bytes(&archive);
    let mut changed = bytes.clone();
    changed[20] ^= 1;
    project.write(&archive, changed);
    ends_without_a_program(install("Linux aarch64"), "The checksum of file://");
    fs_err::remove_file(project.path(&archive)).unwrap();
    ends_without_a_program(install("Linux aarch64"), "cannot be fetched.");
    project.write(&archive, bytes);

    for platform in [
        "Linux aarch64",
        "Linux x86_64",
        "Linux amd64",
        "Darwin arm64",
        "Darwin x86_64",
    ] {
        let done = install(platform).code(0);
        assert!(
            done.out.contains(&format!("ralph {VERSION} is in ")),
            "{}",
            done.out
        );
        assert!(done.out.contains("is not on the PATH."), "{}", done.out);
        fs_err::remove_file(&program).unwrap();
    }
    let rest: Vec<_> = fs_err::read_dir(program.parent().unwrap())
        .unwrap()
        .collect();
    assert!(rest.is_empty(), "{rest:?}");
    let half = &script[..script.rfind("install\n").unwrap()];
    project.write("dist/install.sh", half);
    install("Linux x86_64").code(0);
    assert!(!program.exists(), "a script that was cut off does nothing");
}

fn npm_installs_the_program_of_its_platform() {
    let project = release();
    run(&project, "assemble.sh", &["Octo/ralph"]).code(0);
    let server: Value = serde_json::from_str(&project.read("dist/server.json")).unwrap();
    assert_eq!(server["name"], "io.github.Octo/ralph-loop");
    assert_eq!(server["packages"][0]["version"], VERSION);
    assert!(
        server["description"].as_str().unwrap().len() <= 100,
        "the registry's limit"
    );

    project.write("app/package.json", "{\"private\": true}");
    let package = |name: &str| format!("../dist/octo-ralph-loop{name}-{VERSION}.tgz");
    let platform = if cfg!(target_arch = "aarch64") {
        "-linux-arm64"
    } else {
        "-linux-x64"
    };
    let mut npm = project.program("npm");
    npm.args([
        "install",
        "--offline",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
    ])
    .args([package(""), package(platform)])
    .current_dir(project.path("app"));
    Project::finish(npm).code(0);
    let wrapper: Value =
        serde_json::from_str(&project.read("app/node_modules/@octo/ralph-loop/package.json"))
            .unwrap();
    assert_eq!(wrapper["mcpName"], server["name"], "the proof of ownership");
    assert_eq!(wrapper["name"], server["packages"][0]["identifier"]);
    assert_eq!(wrapper["scripts"], Value::Null);

    let mut sh = project.program("sh");
    sh.args(["-c", "echo $$; exec app/node_modules/.bin/ralph run 'a b'"])
        .current_dir(project.path(""));
    let done = Project::finish(sh).code(7);
    let (caller, answer) = done.out.split_once('\n').unwrap();
    assert_eq!(
        answer,
        format!("{caller} run a b\n"),
        "the same process, so signals reach ralph"
    );
    fs_err::remove_dir_all(project.path(format!("app/node_modules/@octo/ralph-loop{platform}")))
        .unwrap();
    let alone = Project::finish(
        project.program(
            project
                .path("app/node_modules/.bin/ralph")
                .to_str()
                .unwrap(),
        ),
    );
    assert!(
        alone.code == 2 && alone.err.contains(" is missing. Install again"),
        "{}",
        alone.err
    );
}

fn a_packed_program_runs_the_loop_of_the_demo() {
    let project = checkout();
    let archive = run(
        &project,
        "package.sh",
        &[TARGETS[0], env!("CARGO_BIN_EXE_ralph")],
    )
    .code(0)
    .out;
    let done = run(&project, "smoke.sh", &[archive.trim_end()]).code(0);
    assert!(
        done.out.contains("CHECK FAIL") && done.out.contains("Equal: every decision"),
        "{}",
        done.out
    );
    assert!(done.out.ends_with(" works.\n"), "{}", done.out);
    project.write("false", "#!/bin/sh\nexit 0\n");
    fs_err::set_permissions(project.path("false"), PermissionsExt::from_mode(0o755)).unwrap();
    run(&project, "package.sh", &[TARGETS[0], "false"]).code(0);
    let refused = run(&project, "smoke.sh", &[archive.trim_end()]).code(1);
    assert!(
        refused.err.contains("The task is not ticked."),
        "{}",
        refused.err
    );
}
