//! Foreign text made fit to be shown.
//!
//! Owns: the list of characters that never reach a terminal, a prompt or a message.
//!
//! Promises: no control character (C0, DEL, C1), no override of the writing direction and no invisible
//! character is left; what is left is as long as was asked at most.
//!
//! Refuses to know: where the text goes.

/// One line: tabs and line ends become spaces, unsafe characters go, spaces at the ends go; at most
/// `max_chars` characters, the last of them `…` when something was cut.
pub fn line(text: &str, max_chars: usize) -> String {
    let spaced = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let clean: String = spaced.filter(|&c| is_safe(c)).collect();
    cut(clean.trim(), max_chars)
}

/// Several lines: line ends become `\n`, tabs stay, unsafe characters go.
pub fn block(text: &str) -> String {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    unix.chars().filter(|&c| matches!(c, '\n' | '\t') || is_safe(c)).collect()
}

fn cut(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Neither a control character nor one that is not seen or that changes how others are seen.
fn is_safe(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{block, line};
    use proptest::prelude::*;

    #[test]
    fn a_line_is_one_line_of_visible_characters() {
        assert_eq!(line(" a\tb\r\nc\u{1b}[31m\u{202e}d\u{7f} ", 80), "a b  c[31md");
        assert_eq!(line("abcdef", 6), "abcdef");
        assert_eq!(line("abc defg", 5), "abc…");
        assert_eq!(line("ä\u{85}b\u{2028}c", 9), "ä b c");
    }

    #[test]
    fn a_block_keeps_its_lines_and_tabs() {
        assert_eq!(block("a\r\nb\rc\n\td\0\u{200b}e"), "a\nb\nc\n\tde");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left_and_the_length_holds(text in any::<String>(), max in 1usize..50) {
            let line = line(&text, max);
            prop_assert!(line.chars().count() <= max);
            let unsafe_line = line.contains(|c: char| c.is_control() || !super::is_safe(c));
            prop_assert!(!unsafe_line);
            let block = block(&text);
            prop_assert!(!block.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
