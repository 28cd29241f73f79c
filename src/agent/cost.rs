//! The cost that an agent reports: the `result` line of Claude Code's JSON formats (`--output-format json`,
//! `stream-json`), whose `total_cost_usd` is that of the whole process.

use serde::Deserialize;

/// Lines at the end that are searched.
const LINES: usize = 40;
/// The highest amount that is believed, in dollars.
const MOST: f64 = 1_000_000.0;

#[derive(Deserialize)]
struct Line {
    r#type: String,
    total_cost_usd: f64,
}

/// The amount in the last line that names one, in millionths of a US dollar; `end` is the end of a transcript.
pub fn reported_cost(end: &[u8]) -> Option<u64> {
    let lines = end.rsplit(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.take(LINES).find_map(|line| {
        let line: Line = serde_json::from_slice(line).ok()?;
        let is_amount = line.r#type == "result" && (0.0..=MOST).contains(&line.total_cost_usd);
        is_amount.then(|| micros(line.total_cost_usd)).flatten()
    })
}

/// Rounded to whole millionths, through decimal text, since a cast could truncate.
fn micros(dollars: f64) -> Option<u64> {
    format!("{:.0}", dollars * 1_000_000.0).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::reported_cost;

    #[test]
    fn the_last_result_line_names_the_amount() {
        for (text, expected) in [
            ("", None),
            ("All done.\nRALPH-VERDICT: PASS\n", None),
            (r#"{"type":"result","subtype":"success","total_cost_usd":0.01,"result":"x"}"#, Some(10_000)),
            (
                "{\"type\":\"assistant\"}\nnoise\n{\"type\":\"result\",\"total_cost_usd\":1.2345678}\n\n",
                Some(1_234_568),
            ),
            (
                "{\"type\":\"result\",\"total_cost_usd\":1}\n{\"type\":\"result\",\"total_cost_usd\":2}\r\n",
                Some(2_000_000),
            ),
            (r#"{"type":"result","total_cost_usd":0}"#, Some(0)),
            (r#"{"type":"result","total_cost_usd":-1}"#, None),
            (r#"{"type":"result","total_cost_usd":1e300}"#, None),
            (r#"{"type":"result","total_cost_usd":null}"#, None),
            (r#"{"type":"result"}"#, None),
            (r#"{"type":"step","total_cost_usd":3}"#, None),
            (r#"sult","total_cost_usd":3}"#, None),
        ] {
            assert_eq!(reported_cost(text.as_bytes()), expected, "{text}");
        }
    }
}
