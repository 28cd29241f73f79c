//! `lanes.command` with a real Slurm: one node, whose daemons keep all their files in the project's directory.

use super::project::Project;
use crate::support::needs::tests;
use std::fmt::Write as _;
use std::net::TcpListener;

tests! {
    slurm deep: [
        ten_lanes_through_slurm_end_like_the_loop_alone,
    ]
}

/// Starts the daemons, runs ralph when the node is idle, and ends them.
///
/// They listen on two free ports of this machine, without authentication.
const SCRIPT: &str = r#"
folder=$HOME/slurm
mkdir -p "$folder"
cat > "$folder/slurm.conf" <<END
ClusterName=ralph
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=@PORT1@
SlurmdPort=@PORT2@
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$folder
SlurmdSpoolDir=$folder
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/slurm.conf PATH=$PATH:/usr/sbin
slurmctld -D > "$folder/slurmctld.log" 2>&1 &
daemons=$!
slurmd -D > "$folder/slurmd.log" 2>&1 &
daemons="$daemons $!"
trap 'kill $daemons; wait' EXIT
until sinfo --noheader --format %t 2>&1 | grep -q idle; do sleep 0.05; done
ralph run --lanes 10 || exit
# Without slurmd the last steps would wait for it.
until [ -z "$(squeue --noheader)" ]; do sleep 0.05; done
"#;

/// Its files do not depend on the iteration.
const AGENT: &str = r#"*)
    cd src/app
    echo "$RALPH_TASK" > "${RALPH_TASK}txt"
    git add --all
    git commit --quiet --message "$RALPH_TASK" ;;"#;

fn tasks() -> String {
    let mut tasks = String::new();
    for number in 1..=10 {
        let _ = writeln!(tasks, "- [ ] {number}. [P] Task {number}");
    }
    tasks
}

fn ten_lanes_through_slurm_end_like_the_loop_alone() {
    let alone = Project::new(tasks());
    alone.agent(AGENT);
    alone.ralph(&["run"]).code(0);

    let project = Project::new(tasks());
    project.agent(AGENT);
    project.config("lanes: {command: [srun, -Q, -n1, ralph, run, --only, '{ids}']}\n");
    project.tool(
        "ralph",
        &format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_ralph")),
    );
    let ports = [0; 2].map(|any| TcpListener::bind(("127.0.0.1", any)).unwrap());
    let [first, second] = ports.map(|port| port.local_addr().unwrap().port().to_string());
    let script = SCRIPT
        .replace("@PORT1@", &first)
        .replace("@PORT2@", &second);
    project.tool("slurm", &script);
    let mut slurm = project.program("slurm");
    slurm.current_dir(project.path(""));
    Project::finish_within(slurm, 120).code(0);

    assert_eq!(project.read("tasks.md"), alone.read("tasks.md"));
    let tree = |project: &Project| project.git("src/app", &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(tree(&project), tree(&alone));
    for (entry, number) in project.entries().iter().zip(1..) {
        let agent = format!("The agent was `lane:{number}`");
        assert!(entry.lines.contains(&agent), "{entry:?}");
    }
    assert_eq!(project.entries().len(), 10);
    assert_eq!(project.processes(), [0; 0]);
    project.ralph(&["replay"]).code(0);
}
