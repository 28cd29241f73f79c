//! Templates that came with an earlier ralph.

use crate::config::Role;
use crate::source::digest;

/// Number of compared digits of a digest.
const DIGITS: usize = 16;

/// The digests of former templates by their role.
const FORMER: [(Role, &str); 6] = [
    (
        Role::TestWriter,
        "9d1c6546e27ac503 c6a68886ff9496aa b16500e98034dc3d 4ae594f82525b581",
    ),
    (
        Role::Worker,
        "c04297fb92017346 1ed3d08b84f5225a 28019a4b914fd3e3 e086282ceb28d282",
    ),
    (
        Role::ReqReviewer,
        "cd0ca3dc3c99a0b4 ac55e0c89d6a8ec8 5015dc120a94e148 6e9b8f5209d5e9d7 6e5703d8328dc93b",
    ),
    (
        Role::QualityReviewer,
        "25e295c65710dc0c 9525c69fc97af73e 542a7aa901e714e0 a3e897ad4a50028b eb3a528943ab5b7b",
    ),
    (
        Role::IntegrationTester,
        "df996d8450cc50a9 3d482e8043343459 4da3a0902a18b1ce eb06236d970a56ae",
    ),
    (
        Role::Validator,
        "898f5b22d2bd9c67 ea4f2acafd4be406 876c4098d5f8e086",
    ),
];

/// True for the text of a template that came with an earlier ralph for this role.
///
/// Its `init` copied them into workspaces. An unchanged copy is not a user's own template.
pub fn is_former(role: Role, template: &str) -> bool {
    let digest = digest(template.as_bytes());
    FORMER
        .iter()
        .any(|(of, former)| *of == role && former.split(' ').any(|one| one == &digest[..DIGITS]))
}

#[cfg(test)]
mod tests {
    use super::is_former;
    use crate::agent::{builtin, names_token};
    use crate::config::Role;

    #[test]
    fn the_templates_of_now_name_the_token_and_are_not_former_ones() {
        for role in Role::all() {
            assert!(names_token(builtin(role)), "{role:?}");
            assert!(!is_former(role, builtin(role)), "{role:?}");
        }
    }

    #[test]
    fn an_unchanged_copy_of_a_former_template_is_known_and_a_changed_one_is_not() {
        let former = include_str!("tests/former-quality-reviewer.md");
        assert!(is_former(Role::QualityReviewer, former));
        assert!(!is_former(Role::ReqReviewer, former));
        assert!(!is_former(
            Role::QualityReviewer,
            &former.replace("strict colleague", "kind colleague")
        ));
    }
}
