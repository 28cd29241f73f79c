//! Templates that came with an earlier ralph.

use crate::config::Role;
use crate::source::digest;

/// Digits of a digest that are compared.
const DIGITS: usize = 16;

/// True for the text of a template that came with ralph for this role before verdict lines had a token. `init` copied
/// them into workspaces; a copy that nobody changed is no template of a person's own.
pub fn is_former(role: Role, template: &str) -> bool {
    let former = match role {
        Role::TestWriter => ["c6a68886ff9496aa", "b16500e98034dc3d", "4ae594f82525b581"],
        Role::Worker => ["1ed3d08b84f5225a", "28019a4b914fd3e3", "e086282ceb28d282"],
        Role::ReqReviewer => ["5015dc120a94e148", "6e9b8f5209d5e9d7", "6e5703d8328dc93b"],
        Role::QualityReviewer => ["542a7aa901e714e0", "a3e897ad4a50028b", "eb3a528943ab5b7b"],
        Role::IntegrationTester => ["3d482e8043343459", "4da3a0902a18b1ce", "eb06236d970a56ae"],
        Role::Validator => return false,
    };
    former.contains(&&digest(template.as_bytes())[..DIGITS])
}

#[cfg(test)]
mod tests {
    use super::is_former;
    use crate::agent::{builtin, names_token};
    use crate::config::Role;

    #[test]
    fn the_templates_of_now_name_the_token_and_are_not_former_ones() {
        for role in Role::all() {
            assert_eq!(names_token(builtin(role)), role != Role::Validator, "{role:?}");
            assert!(!is_former(role, builtin(role)), "{role:?}");
        }
    }

    #[test]
    fn an_unchanged_copy_of_a_former_template_is_known_and_a_changed_one_is_not() {
        let former = include_str!("tests/former-quality-reviewer.md");
        assert!(is_former(Role::QualityReviewer, former));
        assert!(!is_former(Role::ReqReviewer, former));
        assert!(!is_former(Role::QualityReviewer, &former.replace("strict colleague", "kind colleague")));
    }
}
