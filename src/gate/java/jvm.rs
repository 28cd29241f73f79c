//! Options for JVMs that live for seconds.
//!
//! Never two collectors (the JVM would not start), never a compiler setting over the project's.

/// Quick code instead of good code.
const COMPILER: &str = "-XX:TieredStopAtLevel=1";
/// The collector that starts fastest.
const COLLECTOR: &str = "-XX:+UseSerialGC";

/// The options that may be added to the project's `own`.
pub(crate) fn quick<'a>(own: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let (mut compiler, mut collector) = (true, true);
    for option in own {
        let chooses_compiler = ["-XX:TieredStopAtLevel", "-XX:-TieredCompilation", "-XX:+TieredCompilation"];
        let modes = ["-Xint", "-Xcomp", "-server", "-client"];
        compiler &=
            !chooses_compiler.iter().any(|start| option.starts_with(start)) && !modes.contains(&option);
        let named = option.strip_prefix("-XX:+Use").or_else(|| option.strip_prefix("-XX:-Use"));
        collector &= !named.is_some_and(|name| name.ends_with("GC"));
    }
    [(compiler, COMPILER), (collector, COLLECTOR)]
        .into_iter()
        .filter_map(|(wanted, option)| wanted.then_some(option))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::quick;

    #[test]
    fn the_projects_own_choice_wins() {
        for (own, ours) in [
            (&["-Xmx300m", "-Dgc=UseG1GC"][..], &["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"][..]),
            (&["-XX:+UseG1GC"], &["-XX:TieredStopAtLevel=1"]),
            (&["-XX:-UseParallelGC"], &["-XX:TieredStopAtLevel=1"]),
            (&["-XX:TieredStopAtLevel=3"], &["-XX:+UseSerialGC"]),
            (&["-Xint", "-XX:+UseZGC"], &[]),
        ] {
            assert_eq!(quick(own.iter().copied()), ours, "{own:?}");
        }
    }
}
