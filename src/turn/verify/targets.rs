//! Finds the files that a tool's call is to edit, for the spelling of each CLI.
//!
//! Reads the call's arguments alone. A shell command has no targets: git shows its changes.

use serde_json::Value;

/// Maximum length of a path, in bytes.
const LONGEST_PATH: usize = 4096;

/// The purpose of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPurpose {
    /// It edits these files. Empty if its arguments name none.
    Edit(Vec<String>),
    /// It runs this command.
    Command(String),
    /// It edits no file.
    Other,
}

/// Tools that edit files, by the letters of their names in lower case.
const EDITORS: &str = "write writefile create createfile edit editfile multiedit replace strreplace searchreplace insert \
    patch applypatch notebookedit editnotebook delete deletefile undoedit fswrite texteditor \
    strreplaceeditor strreplacebasededittool filechange";
/// Editing tools that create no new file.
const EDIT_ONLY: &str =
    "edit editfile multiedit replace strreplace searchreplace insert undoedit notebookedit";
/// Tools that run commands.
const SHELLS: &str = "bash shell runshellcommand terminal runterminalcmd execcommand commandexecution execute powershell";
/// The argument that names the file, by CLI.
const PATH_KEYS: [&str; 8] = [
    "file_path",
    "filePath",
    "notebook_path",
    "notebookPath",
    "path",
    "target_file",
    "file",
    "filename",
];
/// The argument that holds a patch in the V4A format.
const PATCH_KEYS: [&str; 4] = ["patchText", "patch", "input", "patch_text"];

/// Returns the purpose of a call of this tool with these arguments.
pub fn task(tool: &str, input: &Value) -> CallPurpose {
    let name = plain_name(tool);
    if is_among(SHELLS, &name) {
        return CallPurpose::Command(command(input));
    }
    let only_looks = input.get("command").and_then(Value::as_str) == Some("view");
    if !is_among(EDITORS, &name) || only_looks {
        return CallPurpose::Other;
    }
    if let Some(changes) = input.get("changes").and_then(Value::as_array) {
        return CallPurpose::Edit(changes.iter().filter_map(path).collect());
    }
    // Hermes' `patch` replaces text in one file unless its mode is different.
    let mode = input
        .get("mode")
        .and_then(Value::as_str)
        .filter(|_| name == "patch")
        .unwrap_or_default();
    match (name.as_str(), mode) {
        ("patch", "patch") | ("applypatch", _) => CallPurpose::Edit(patched(input)),
        ("patch", mode) if !matches!(mode, "" | "replace") => CallPurpose::Edit(Vec::new()),
        _ => CallPurpose::Edit(path(input).into_iter().collect()),
    }
}

/// True for a tool that creates no new file.
pub(super) fn edits_only(tool: &str) -> bool {
    is_among(EDIT_ONLY, &plain_name(tool))
}

/// True for one of these words.
pub(super) fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Returns `writefile`, `write`, `write` for `functions.Write_File`, `writeToolCall`, `developer__write`.
fn plain_name(tool: &str) -> String {
    let own = ["developer__", "functions."]
        .iter()
        .find_map(|prefix| tool.strip_prefix(prefix))
        .unwrap_or(tool);
    let own = own.strip_suffix("ToolCall").unwrap_or(own);
    own.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

fn command(input: &Value) -> String {
    match input.get("command").or_else(|| input.get("cmd")) {
        Some(Value::String(command)) => command.clone(),
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" "),
        _ => String::new(),
    }
}

fn path(input: &Value) -> Option<String> {
    let found = PATH_KEYS.iter().find_map(|key| input.get(key))?;
    let path = match found {
        Value::String(path) => path.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    is_path(&path).then_some(path)
}

fn is_path(path: &str) -> bool {
    !path.trim().is_empty() && path.len() <= LONGEST_PATH && !path.contains('\0')
}

/// Returns the files of a patch.
///
/// If the patch is not included, it is the file named next to it.
fn patched(input: &Value) -> Vec<String> {
    match input
        .as_str()
        .or_else(|| PATCH_KEYS.iter().find_map(|key| input.get(key)?.as_str()))
    {
        Some(text) => in_patch(text),
        None => path(input).into_iter().collect(),
    }
}

/// Returns the files that a patch in the V4A format changes, in order.
///
/// Of a move, both ends are included.
pub fn in_patch(patch: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for header in patch.lines().filter_map(|line| line.strip_prefix("***")) {
        let Some((what, names)) = header.split_once(':') else {
            continue;
        };
        let what: Vec<String> = what
            .split_whitespace()
            .map(str::to_ascii_lowercase)
            .collect();
        let what: Vec<&str> = what.iter().map(String::as_str).collect();
        match what.as_slice() {
            ["update" | "add" | "delete", "file"] | ["move", "to"] => paths.push(names),
            ["move", "file"] => paths.extend(names.split(" -> ")),
            _ => {}
        }
    }
    let mut named: Vec<String> = paths
        .into_iter()
        .map(|path| path.trim().to_owned())
        .collect();
    named.retain(|path| is_path(path));
    named
}
