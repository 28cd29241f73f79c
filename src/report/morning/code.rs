//! Code spans of Markdown as HTML: the only markup that a text may have on a page.

use minijinja::{HtmlEscape, Value};
use std::fmt::Write as _;

/// Escapes a text, and shows each pair of equal runs of backticks as `<code>`.
pub(super) fn code_spans(text: &str) -> Value {
    let mut html = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let (before, from_ticks) = rest.split_at(start);
        let inner = from_ticks.trim_start_matches('`');
        let ticks = from_ticks.len() - inner.len();
        let _ = write!(html, "{}", HtmlEscape(before));
        if let Some(end) = end_of_span(inner, ticks) {
            let (code, after) = inner.split_at(end);
            let _ = write!(html, "<code>{}</code>", HtmlEscape(code.trim()));
            rest = after.get(ticks..).unwrap_or_default();
        } else {
            html.extend(std::iter::repeat_n('`', ticks));
            rest = inner;
        }
    }
    let _ = write!(html, "{}", HtmlEscape(rest));
    Value::from_safe_string(html)
}

/// Returns the place of the next run of exactly so many backticks.
fn end_of_span(text: &str, ticks: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find('`') {
        let run = text.get(from + found..)?;
        let length = run.len() - run.trim_start_matches('`').len();
        if length == ticks {
            return Some(from + found);
        }
        from += found + length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn backticks_become_code_and_nothing_else_is_markup() {
        for (text, html) in [
            ("wrote `[x]` here", "wrote <code>[x]</code> here"),
            (
                "`` a`b `` and `<b>`",
                "<code>a`b</code> and <code>&lt;b&gt;</code>",
            ),
            ("one ` alone", "one ` alone"),
            ("``` never closed ` ``", "``` never closed ` ``"),
            (
                "<code>x</code> \"&\"",
                "&lt;code&gt;x&lt;&#x2f;code&gt; &quot;&amp;&quot;",
            ),
        ] {
            assert_eq!(code_spans(text).to_string(), html);
        }
    }

    proptest! {
        #[test]
        fn tags_are_only_those_of_code(text in "[`<>a\"&é ]{0,40}") {
            let html = code_spans(&text).to_string();
            let bare = html.replace("<code>", "").replace("</code>", "");
            prop_assert!(!bare.contains(['<', '>', '"']), "{html}");
            prop_assert_eq!(html.matches("<code>").count(), html.matches("</code>").count());
        }
    }
}
