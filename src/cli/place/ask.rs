//! The question where gates go.

use crate::cli::ask::{Asked, one_of, words};
use crate::config::Placement;

/// Asks for the placement of a gate, with the choice of now as the default.
pub(in crate::cli) fn placement(gate: &str, now: Option<&Placement>) -> Asked<Placement> {
    let options = [
        "each    after every task that has tests of its own (recommended)".to_owned(),
        "after   after the tasks that I name".to_owned(),
        format!("groups  at the end of each heading: G1.{gate}, G2.{gate}, …"),
        format!("end     once, after the last task: END.{gate}"),
        "none    nowhere".to_owned(),
    ];
    let default = match now {
        None | Some(Placement::Each) => 0,
        Some(Placement::After(_)) => 1,
        Some(Placement::Groups) => 2,
        Some(Placement::End) => 3,
        Some(Placement::None) => 4,
    };
    let ids = || {
        let known = if let Some(Placement::After(ids)) = now { ids.as_slice() } else { &[] };
        let ids = words("After which tasks (as in 2,5,7)", known)?;
        Ok(Placement::After(ids.iter().filter_map(|id| super::tidy(id)).collect()))
    };
    match one_of(&format!("Where {gate} stands"), &options, default)? {
        0 => Ok(Placement::Each),
        1 => ids(),
        2 => Ok(Placement::Groups),
        3 => Ok(Placement::End),
        _ => Ok(Placement::None),
    }
}
