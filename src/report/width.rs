//! Text in columns of a terminal: never wider than asked, and no character cut in half.

use unicode_width::UnicodeWidthStr as _;

/// Returns the width of a text in columns.
pub fn text_width(text: &str) -> usize {
    text.width()
}

/// The text without what terminals draw in different widths: variation selectors.
pub fn steady_text(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'))
        .collect()
}

/// At most so many columns of the text, `…` at the end when something was cut.
pub fn cut_text(text: &str, columns: usize) -> String {
    if text_width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let starts = text
        .char_indices()
        .map(|(at, c)| text.get(..at + c.len_utf8()).unwrap_or_default());
    let kept = starts
        .take_while(|start| text_width(start) <= room)
        .last()
        .unwrap_or_default()
        .trim_end();
    if columns == 0 {
        String::new()
    } else {
        format!("{kept}…")
    }
}

/// The text cut or filled with spaces to exactly so many columns.
pub fn pad_text(text: &str, columns: usize) -> String {
    let mut shown = cut_text(text, columns);
    let missing = columns.saturating_sub(text_width(&shown));
    shown.extend(std::iter::repeat_n(' ', missing));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_characters_count_twice_and_are_never_cut_in_half() {
        assert_eq!(cut_text("数字です", 8), "数字です");
        assert_eq!(cut_text("数字です", 7), "数字で…");
        assert_eq!(cut_text("数字です", 6), "数字…");
        assert_eq!(pad_text("数字です", 6), "数字… ");
        assert_eq!(pad_text("ab", 4), "ab  ");
        assert_eq!(
            (cut_text("abc", 1), cut_text("abc", 0), pad_text("", 2)),
            ("…".into(), String::new(), "  ".into())
        );
        assert_eq!(steady_text("☎\u{fe0f}x"), "☎x");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_asked(text in any::<String>(), columns in 0usize..40) {
            let text = steady_text(&text);
            prop_assert!(text_width(&cut_text(&text, columns)) <= columns);
            prop_assert_eq!(text_width(&pad_text(&text, columns)), columns);
        }
    }
}
