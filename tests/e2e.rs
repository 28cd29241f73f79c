//! The second test binary: tests that need programs such as Maven, which may be missing.
//!
//! A test that cannot run here counts as ignored and reports why. In CI it fails if the missing program can be
//! installed.

#[cfg(test)]
mod cli {
    pub(crate) mod chain;
    pub(crate) mod ci;
    pub(crate) mod ci_runners;
    pub(crate) mod foreign_owner;
    pub(crate) mod kill_matrix;
    pub(crate) mod lane_kills;
    pub(crate) mod mcp;
    pub(crate) mod notify;
    #[expect(dead_code, reason = "the other test binary uses all of it")]
    pub(crate) mod project;
    pub(crate) mod real_files;
    pub(crate) mod release;
    pub(crate) mod slurm;
    pub(crate) mod watch;
}
#[cfg(test)]
mod demo;
#[cfg(test)]
mod fuzz {
    mod drive;
    pub(crate) mod files;
}
#[cfg(test)]
mod gate;
#[cfg(test)]
mod git {
    mod command;
    pub(crate) mod random_merges;
}
#[cfg(test)]
mod real;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod support;
#[cfg(test)]
mod taskfiles {
    pub(crate) mod corpus;
    mod files;
    mod flips;
    mod placements;
}

#[cfg(test)]
fn tests() -> Vec<libtest_mimic::Trial> {
    // Those with the longest tests are first, so that no processor is idle at the end.
    [
        gate::files::tests(),
        demo::kill::tests(),
        real::hermes::tests(),
        gate::gradle::tests(),
        gate::recompile::tests(),
        gate::shapes::tests(),
        sessions::tests(),
        demo::replay::tests(),
        cli::ci::tests(),
        cli::ci_runners::tests(),
        cli::foreign_owner::tests(),
        cli::kill_matrix::tests(),
        cli::lane_kills::tests(),
        cli::mcp::tests(),
        cli::notify::tests(),
        cli::release::tests(),
        cli::slurm::tests(),
        cli::watch::tests(),
        demo::audit::tests(),
        demo::loop_test::tests(),
        demo::shell_loop::tests(),
        gate::tests(),
        gate::clean::tests(),
        gate::engines::tests(),
        gate::evidence::tests(),
        gate::hidden::tests(),
        gate::map::tests(),
        gate::mutation_test::tests(),
        gate::results::tests(),
        gate::targets::tests(),
        gate::tiers::tests(),
        git::random_merges::tests(),
        real::tests(),
        real::plugin::tests(),
        taskfiles::corpus::tests(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn main() {
    cli::project::use_memory();
    let mut arguments = libtest_mimic::Arguments::from_args();
    // Most tests wait for processes.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    arguments.test_threads.get_or_insert(2 * cores);
    let conclusion = libtest_mimic::run(&arguments, tests());
    support::needs::print_slowest();
    conclusion.exit();
}
