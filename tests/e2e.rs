//! The second test binary: what needs programs that may be missing, such as Maven. What cannot run here is
//! counted as ignored and says why; in CI it fails.

#[cfg(test)]
mod demo;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod support;

#[cfg(test)]
fn tests() -> Vec<libtest_mimic::Trial> {
    [
        demo::loop_test::tests(),
        demo::shell_loop::tests(),
        gate::tests(),
        gate::class_file::tests(),
        gate::clean::tests(),
        gate::recompile::tests(),
        gate::tiers::tests(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn main() {
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), tests()).exit();
}
