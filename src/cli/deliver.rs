//! `ralph deliver`: the commits of a finished run as pull requests, by the user's own git and `gh` or `glab`.
//!
//! Promises: without `--yes` nothing leaves this machine. Only a complete run is delivered whose records replay equal
//! and whose gates judged HEAD. No text of an agent or of a task file reaches a shell.

mod call;

use super::report::make_page;
use super::status::ViewedWorkspace;
use super::{
    Exit, Fault, FaultKind, Invocation, RealDisk, Workspace, base_environment, ensure_that, ui,
};
use crate::engine::{Replay, stale_gates};
use crate::git::{PushRemote, Repositories, is_branch_name};
use crate::machine::choice::NextStep;
use crate::machine::facts::Oid;
use crate::machine::state::SpecState;
use crate::report::board::{Board, BoxStatus};
use crate::report::morning::{Forge, repository_page};
use crate::source::Secrets;
use crate::source::text::{line, names};
use call::{ForgeCaller, ForgeTool};
use clap::Args;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Characters of a title.
const TITLE: usize = 72;
/// Names in one message.
const NAMED: usize = 10;

/// Flags of `deliver`.
#[derive(Debug, Args)]
pub struct DeliverArgs {
    /// Push and open the pull requests
    #[arg(long)]
    pub yes: bool,
    /// The branch of the remote to push to [default: the branch that is checked out]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// The branch to merge into [default: that of the remote]
    #[arg(long, value_name = "NAME")]
    pub base: Option<String>,
    /// The program that opens pull requests [default: by the remote's host]
    #[arg(long, value_name = "PROGRAM")]
    pub with: Option<ForgeTool>,
}

/// The commits and the pull request of one repository.
struct Delivery {
    /// Its first package.
    package: String,
    folder: PathBuf,
    remote: PushRemote,
    /// Address of its page on the forge.
    page: String,
    tool: ForgeTool,
    commit: Oid,
    branch: String,
    base: String,
}

/// `ralph deliver`.
pub(super) fn run_deliver(call: &Invocation, args: &DeliverArgs) -> Result<Exit, Fault> {
    let workspace = call.open_workspace()?;
    // A run that starts meanwhile would change what was checked.
    let _lock = workspace.take_lock()?;
    let mut repositories = workspace.open_repositories()?;
    let mut source = ViewedWorkspace::open_at(call, call.find_workspace()?, true)?;
    let mut board = source.read_board()?;
    // This process holds the workspace, and is no run.
    board.holder = None;
    if let Some(trouble) = source.find_trouble(&board) {
        return Err(Fault::new(FaultKind::Unknown, trouble, "`ralph replay`"));
    }
    let state = workspace.read_boxes()?;
    let spec = state.spec_state();
    if let Some((what, hint)) = find_gap(spec, &mut repositories, &board) {
        ui::print_error(&what, hint);
        return Ok(Exit::WorkLeft);
    }
    let head = replay_equal(&workspace, &mut repositories)?;
    let Some(head) = head else {
        return Ok(Exit::WorkLeft);
    };
    let deliveries = plan(&workspace, &mut repositories, args)?;
    if let Some(what) = find_unknown(spec, &deliveries) {
        let hint =
            "`ralph gate ID` judges it, or `ralph reopen ID` and `ralph accept ID --reason …`";
        ui::print_error(&what, hint);
        return Ok(Exit::WorkLeft);
    }
    let name = workspace.places.workspace.file_name();
    let page = make_page(&source, &board, &name.unwrap_or_default().to_string_lossy());
    let page = page.render_markdown().map_err(|error| {
        Fault::new(FaultKind::Internal, error.to_string(), "please report this")
    })?;
    let secrets = Secrets::of(base_environment());
    let page = secrets.redact(&page);
    let title = secrets.redact(&title_of(&board));
    let caller = ForgeCaller::new()?;
    let mut exit = Exit::Done;
    for delivery in &deliveries {
        let body = format!(
            "{page}\n\n`ralph replay --require-anchor {head}` repeats every decision. The commit is {}.\n",
            delivery.commit
        );
        let done = deliver(call, args, &caller, delivery, &title, &body)?;
        exit = if done { exit } else { Exit::NoVerdict };
    }
    if deliveries.is_empty() {
        ui::print_note("No repository has commits that its remote lacks.");
    } else if !args.yes && !call.json {
        ui::print_line("Nothing was sent. `ralph deliver --yes` sends it.");
    }
    Ok(exit)
}

/// Returns why the run cannot be delivered, with a hint.
fn find_gap(
    spec: &SpecState,
    repositories: &mut Repositories,
    board: &Board,
) -> Option<(String, &'static str)> {
    let (done, required) = board.required;
    if board.next != NextStep::AllDone || done < required {
        let what =
            format!("The run is not finished: {done} of {required} required boxes are ticked.");
        return Some((what, "`ralph status` lists the other boxes"));
    }
    let cells = board.families.iter().flat_map(|row| row.cells.values());
    let unrecorded: Vec<String> = cells
        .filter(|cell| cell.status == BoxStatus::Unrecorded)
        .map(|cell| cell.key.to_string())
        .collect();
    if !unrecorded.is_empty() {
        let what = format!("Ticked without a record: {}.", names(&unrecorded, NAMED));
        return Some((what, "`ralph reopen ID`, then `ralph run`"));
    }
    let heads = repositories.current_heads();
    let first = stale_gates(spec, &heads, repositories).into_iter().next()?;
    Some((first, "`ralph gate ID` judges HEAD"))
}

/// Returns the commit that would be delivered and that no box is about.
fn find_unknown(spec: &SpecState, deliveries: &[Delivery]) -> Option<String> {
    for Delivery {
        package, commit, ..
    } in deliveries
    {
        let is_known = spec.rows.iter().any(|row| {
            let evidence = spec
                .stage(&row.key)
                .and_then(|stage| stage.stands_for.as_ref());
            row.mark.is_done()
                && evidence.is_some_and(|judged| judged.heads.get(package) == Some(commit))
        });
        if !is_known {
            return Some(format!(
                "No ticked box is about {commit}, the HEAD of {package}."
            ));
        }
    }
    None
}

/// Replays the run. Returns the head of its chain, or `None` after printing what differs.
fn replay_equal(
    workspace: &Workspace,
    repositories: &mut Repositories,
) -> Result<Option<String>, Fault> {
    let disk = RealDisk::new();
    let replay = Replay::new(&disk, &workspace.places, &workspace.rules, Ok(repositories));
    let found = replay.run_replay()?.found;
    for finding in &found.findings {
        ui::print_error(&finding.to_string(), &finding.hint);
    }
    Ok(found.worst_grade().is_none().then_some(found.head))
}

/// Returns a delivery for each repository with commits that its base lacks.
fn plan(
    workspace: &Workspace,
    repositories: &mut Repositories,
    args: &DeliverArgs,
) -> Result<Vec<Delivery>, Fault> {
    for name in args.branch.iter().chain(&args.base) {
        let what = format!("{name} is not a name of a branch.");
        ensure_that(is_branch_name(name), what, "name it without refs/heads/")?;
    }
    let mut seen = BTreeSet::new();
    let mut deliveries = Vec::new();
    for (package, (commit, checked_out)) in repositories.read_heads()? {
        let folder = repositories
            .repository_of(&package)
            .unwrap_or_else(|| workspace.places.workspace.clone());
        if commit.is_zero() || !seen.insert(folder.clone()) {
            continue;
        }
        let Some(remote) = repositories.push_remote(&package)? else {
            let what = format!("The repository of {package} has no remote.");
            return Err(Fault::setup_fault(what, "`git remote add origin URL`"));
        };
        let base = args.base.clone().or_else(|| remote.default_branch.clone());
        let Some(base) = base else {
            let what = format!(
                "The default branch of {} is not known in {package}.",
                remote.name
            );
            return Err(Fault::setup_fault(what, "name it: `--base main`"));
        };
        let tip = format!("refs/remotes/{}/{base}", remote.name);
        let left = repositories.merge_base(&package, &commit, &tip);
        let left = left.map_err(|error| Fault {
            hint: format!("fetch {base} from {} first", remote.name),
            ..Fault::from(error)
        })?;
        if left == commit {
            continue;
        }
        let own = checked_out
            .as_deref()
            .and_then(|name| name.strip_prefix("refs/heads/"));
        let branch = args
            .branch
            .as_deref()
            .or(own)
            .unwrap_or_default()
            .to_owned();
        let what = format!("The commits of {package} would be pushed to {base} itself.");
        let hint = "name another branch: `--branch NAME`";
        ensure_that(branch != base, what, hint)?;
        let what = format!("HEAD of {package} is on no branch.");
        ensure_that(!branch.is_empty(), what, hint)?;
        let (page, tool) = forge_of(&remote, args.with)?;
        deliveries.push(Delivery {
            package,
            folder,
            remote,
            page,
            tool,
            commit,
            branch,
            base,
        });
    }
    Ok(deliveries)
}

/// Returns the page of the repository, and the program for its forge.
fn forge_of(remote: &PushRemote, with: Option<ForgeTool>) -> Result<(String, ForgeTool), Fault> {
    let address = &remote.address;
    let Some((page, forge)) = repository_page(address) else {
        let what = format!("{address} is not the address of a forge.");
        return Err(Fault::setup_fault(
            what,
            "push it yourself, and use `ralph report`",
        ));
    };
    let by_host = match forge {
        Forge::Github => Some(ForgeTool::Gh),
        Forge::Gitlab => Some(ForgeTool::Glab),
        Forge::Bitbucket | Forge::Other => None,
    };
    let Some(tool) = with.or(by_host) else {
        let what = format!("The host of {page} does not tell its forge.");
        return Err(Fault::setup_fault(what, "`--with gh` or `--with glab`"));
    };
    Ok((page, tool))
}

/// Returns the text of the first task, and the number of the others.
fn title_of(board: &Board) -> String {
    let mut tasks = board.families.iter().filter(|row| !row.text.is_empty());
    let first = tasks.next().map_or("", |row| row.text.as_str());
    let more = tasks.count();
    if more == 0 {
        return line(first, TITLE);
    }
    let more = format!(" (and {more} more)");
    line(first, TITLE - more.len()) + &more
}

/// Delivers one repository, or shows how. False if a program failed.
fn deliver(
    call: &Invocation,
    args: &DeliverArgs,
    caller: &ForgeCaller,
    delivery: &Delivery,
    title: &str,
    body: &str,
) -> Result<bool, Fault> {
    let Delivery {
        package,
        remote,
        page,
        tool,
        commit,
        branch,
        base,
        ..
    } = delivery;
    let push = [
        "git".to_owned(),
        "push".to_owned(),
        "--".to_owned(),
        remote.name.clone(),
        format!("{commit}:refs/heads/{branch}"),
    ];
    let body_file = caller.write_body(body)?;
    let open = tool.open_call(&call::PullRequest {
        page,
        branch,
        base,
        title,
        body,
        body_file: &body_file,
    });
    let mut failure = None;
    let mut address = None;
    if args.yes {
        for argv in [&push[..], &open[..]] {
            match caller.run(argv, &delivery.folder)? {
                Ok(last) => address = last,
                Err(why) => {
                    failure = Some(why);
                    break;
                }
            }
        }
    }
    if call.json {
        ui::print_json(&json!({
            "package": package, "commit": commit, "branch": branch, "base": base,
            "remote": remote.name, "push_address": remote.push_address, "repository": page,
            "program": tool.program(), "title": title, "body": body,
            "sent": args.yes && failure.is_none(), "pull_request": address, "failure": failure,
        }));
    } else {
        ui::print_line(&format!(
            "{package}: {commit} to {branch}, pull request into {base}"
        ));
        ui::print_line(&format!("  {}", call::shown(&push)));
        ui::print_line(&format!("    to {}", line(&remote.push_address, 200)));
        ui::print_line(&format!("  {}", call::shown(&open)));
        if let Some(address) = &address {
            ui::print_line(&format!("  {address}"));
        }
    }
    if let Some(why) = &failure {
        ui::print_error(why, "repair it, and call `ralph deliver --yes` again");
    }
    Ok(failure.is_none())
}
