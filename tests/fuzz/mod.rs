//! A short run of the fuzz targets: random bytes and pieces of task files.

mod drive;
pub(crate) mod files;

use proptest::prelude::*;

/// Pieces of task files and of their usual mistakes.
const PIECES: &[&str] = &[
    "- [ ] ",
    "- [x] ",
    "- [X]* ",
    "- [-] ",
    "* [✅] ",
    "1. [ ] ",
    "- [P] ",
    "- ",
    "1. ",
    "1.1 ",
    "2.",
    "2.PITEST ",
    "2.TEST-FIRST ",
    "FINAL ",
    "G1.PITEST ",
    "END.PITEST ",
    "T001 [P] [US1] ",
    "7.9* (P) ",
    "**T002** ",
    "# done\n",
    "## 2. plan\n",
    "a\n===\n",
    "---\n",
    "```\n",
    "~~~\n",
    "<!-- ",
    "-->",
    "  - _Requirements: 1.1, FR-2_\n",
    "  ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u{feff}",
    "a",
    "é",
    "| [ ] |",
    "\\[ ]",
    "**Do**: x.md",
    "Checkpoint",
    "(P1)",
    "[a]: /u\n",
    "> ",
    "\0",
];

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        12 => proptest::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..5),
    ];
    let choices = proptest::collection::vec(any::<u8>(), 4);
    (choices, proptest::collection::vec(piece, 0..50))
        .prop_map(|(choices, pieces)| [choices, pieces.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anything_is_read(data in prop_oneof![4 => text(), 1 => proptest::collection::vec(any::<u8>(), 0..200)]) {
        drive::parse(&data);
    }

    #[test]
    fn anything_is_edited(data in prop_oneof![4 => text(), 1 => proptest::collection::vec(any::<u8>(), 0..200)]) {
        drive::edit(&data);
    }

    #[test]
    fn anything_is_placed_in(data in prop_oneof![4 => text(), 1 => proptest::collection::vec(any::<u8>(), 0..200)]) {
        drive::place(&data);
    }
}
