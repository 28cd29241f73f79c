//! Reads the program's Rust files by their tokens, so that no guard depends on their layout.

use fs_err as fs;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One file of the program, without its tests.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// `["gate", "pit", "output"]` for `src/gate/pit/output.rs`. A `mod.rs` has the path of its directory.
    pub(crate) module: Vec<String>,
    /// The text. Lines of `#[cfg(test)]` items are empty.
    pub(crate) code: String,
    pub(crate) functions: Vec<Function>,
    /// Every path that starts with `crate`, `super` or `self`, from the crate's root.
    pub(crate) names: BTreeSet<Vec<String>>,
    /// The names that `use` imports, each with its path.
    imports: BTreeMap<String, Vec<String>>,
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

impl Source {
    /// Returns the number of lines that are neither blank nor comments nor tests.
    pub(crate) fn production_lines(&self) -> usize {
        self.code
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("//"))
            .count()
    }

    /// Returns the first part of the path below `src`.
    pub(crate) fn top(&self) -> &str {
        self.module.first().map_or("", String::as_str)
    }

    fn read(src: &Path, path: PathBuf) -> Self {
        let below = path.strip_prefix(src).unwrap().with_extension("");
        let mut module: Vec<String> = below
            .iter()
            .map(|part| part.to_str().unwrap().to_owned())
            .collect();
        if module.last().is_some_and(|name| name == "mod") {
            module.pop();
        }
        let text = fs::read_to_string(&path).unwrap();
        Self::parse(path, module, &text)
    }

    pub(crate) fn parse(path: PathBuf, module: Vec<String>, text: &str) -> Self {
        let tokens: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut tests = Vec::new();
        let tokens = without_tests(tokens, &mut tests);
        let lines = text.lines().enumerate();
        let code = lines
            .map(|(at, line)| {
                if tests
                    .iter()
                    .any(|(from, to)| (*from..=*to).contains(&(at + 1)))
                {
                    ""
                } else {
                    line
                }
            })
            .collect::<Vec<_>>()
            .join("\n");
        let mut source = Self {
            path,
            module,
            code,
            functions: Vec::new(),
            names: BTreeSet::new(),
            imports: BTreeMap::new(),
        };
        source.walk(&tokens);
        source
    }

    fn walk(&mut self, tokens: &[TokenTree]) {
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "fn" => self.function(&tokens[at..]),
                TokenTree::Ident(word) if word == "use" => self.import(&tokens[at + 1..]),
                TokenTree::Ident(word) if word == "crate" || word == "super" || word == "self" => {
                    let inner = at >= 2 && is_separator(&tokens[at - 2..]);
                    if !inner && is_separator(&tokens[at + 1..]) {
                        let mut found = Vec::new();
                        paths(&tokens[at..], &[], &mut found);
                        let module = self.module.clone();
                        self.names
                            .extend(found.into_iter().map(|(path, _)| from_root(&module, path)));
                    }
                }
                _ => {}
            }
            if let TokenTree::Group(group) = token {
                self.walk(&trees(group));
            }
        }
    }

    fn function(&mut self, tokens: &[TokenTree]) {
        let Some(TokenTree::Ident(name)) = tokens.get(1) else {
            return;
        };
        let body = tokens.iter().find_map(|token| match token {
            TokenTree::Punct(end) if end.as_char() == ';' => Some(None),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
            _ => None,
        });
        let Some(Some(body)) = body else { return };
        let line = tokens[0].span().start().line;
        let lines = body.span_close().end().line - line + 1;
        self.functions.push(Function {
            name: name.to_string(),
            line,
            lines,
        });
    }

    fn import(&mut self, tokens: &[TokenTree]) {
        let mut found = Vec::new();
        paths(tokens, &[], &mut found);
        for (path, name) in found {
            let is_child = !matches!(path[0].as_str(), "crate" | "super" | "self");
            let mut path = if is_child {
                [vec!["self".to_owned()], path].concat()
            } else {
                path
            };
            path = from_root(&self.module, path);
            self.imports.insert(name, path);
        }
    }
}

/// Collects the paths of a use tree or an expression that starts here, each with its local name.
fn paths(tokens: &[TokenTree], before: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let mut path = before.to_vec();
    let mut rest = tokens;
    loop {
        match rest.first() {
            Some(TokenTree::Ident(word)) => {
                path.push(word.to_string());
                rest = &rest[1..];
            }
            Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Brace && path.len() > before.len() =>
            {
                for part in trees(group)
                    .split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ','))
                {
                    paths(part, &path, found);
                }
                return;
            }
            _ => break,
        }
        if !is_separator(rest) {
            break;
        }
        rest = &rest[2..];
    }
    if path.len() == before.len() {
        return;
    }
    let alias = match rest {
        [TokenTree::Ident(word), TokenTree::Ident(alias), ..] if word == "as" => alias.to_string(),
        _ => path.last().unwrap().clone(),
    };
    if path.len() > 1 && path.last().unwrap() == "self" {
        path.pop();
    }
    let name = if alias == "self" {
        path.last().unwrap().clone()
    } else {
        alias
    };
    found.push((path, name));
}

fn is_separator(tokens: &[TokenTree]) -> bool {
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    is_colon(0) && is_colon(1)
}

/// Returns the path with `crate`, `self` and `super` resolved.
fn from_root(module: &[String], path: Vec<String>) -> Vec<String> {
    let mut base = module.to_vec();
    let mut parts = path.into_iter().peekable();
    while let Some(part) = parts.next_if(|part| matches!(part.as_str(), "crate" | "self" | "super"))
    {
        match part.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            _ => {}
        }
    }
    base.extend(parts);
    base
}

fn trees(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

/// Removes each item behind `#[cfg(test)]` and records its first and last line.
fn without_tests(tokens: TokenStream, tests: &mut Vec<(usize, usize)>) -> Vec<TokenTree> {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(attribute) if is_test_attribute(&attribute, kept.last()) => {
                kept.pop();
                let from = attribute.span_open().start().line;
                let is_semicolon_due = |first: &Option<String>| {
                    matches!(first.as_deref(), Some("use" | "const" | "static" | "type"))
                };
                let mut first = None;
                let mut last = from;
                for token in tokens.by_ref() {
                    last = token.span().end().line;
                    match &token {
                        TokenTree::Ident(word) if *word != "pub" => {
                            first.get_or_insert_with(|| word.to_string());
                        }
                        TokenTree::Punct(end) if end.as_char() == ';' => break,
                        TokenTree::Group(group)
                            if group.delimiter() == Delimiter::Brace
                                && !is_semicolon_due(&first) =>
                        {
                            break;
                        }
                        _ => {}
                    }
                }
                tests.push((from, last));
            }
            TokenTree::Group(group) => {
                let inner = without_tests(group.stream(), tests).into_iter().collect();
                let mut new = Group::new(group.delimiter(), inner);
                new.set_span(group.span());
                kept.push(TokenTree::Group(new));
            }
            other => kept.push(other),
        }
    }
    kept
}

fn is_test_attribute(group: &Group, before: Option<&TokenTree>) -> bool {
    matches!(before, Some(TokenTree::Punct(p)) if p.as_char() == '#')
        && group.to_string().replace(' ', "") == "[cfg(test)]"
}

pub(crate) fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_dir() && name != "tests" {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs"
        {
            found.push(path);
        }
    }
}

/// Returns all files of the program, ordered by path.
pub(crate) fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&src, &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| Source::read(&src, path))
        .collect()
}

/// Returns the groups of neighbours that name each other in a circle.
///
/// Neighbours are files or directories of one directory, below `src/<module>/`. Names between a directory's own file
/// and its children are no circle.
pub(crate) fn circles(sources: &[Source]) -> Vec<String> {
    let known: BTreeMap<&[String], &Source> = sources
        .iter()
        .map(|source| (source.module.as_slice(), source))
        .collect();
    let mut uses: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for source in sources {
        for name in &source.names {
            let target = file_of(&known, name, 8);
            let shared = source
                .module
                .iter()
                .zip(&target)
                .take_while(|(a, b)| a == b)
                .count();
            if shared >= 1 && shared < source.module.len() && shared < target.len() {
                let from = source.module[..=shared].to_vec();
                uses.entry(from)
                    .or_default()
                    .insert(target[..=shared].to_vec());
            }
        }
    }
    let reach = |from: &Vec<String>| {
        let mut seen: BTreeSet<&Vec<String>> = BTreeSet::new();
        let mut open: Vec<&Vec<String>> = uses.get(from).into_iter().flatten().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(uses.get(next).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> =
        uses.keys().map(|node| (node, reach(node))).collect();
    let circle_of = |node: &Vec<String>| -> Vec<String> {
        let members = reached[node]
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|of| of.contains(node)));
        members.map(|member| member.join("/")).collect()
    };
    let groups: BTreeSet<String> = uses
        .keys()
        .map(circle_of)
        .filter(|members| !members.is_empty())
        .map(|members| members.join(" <-> "))
        .collect();
    groups.into_iter().collect()
}

/// Returns the file of the item that a path names, through imports and re-exports.
fn file_of(known: &BTreeMap<&[String], &Source>, path: &[String], depth: usize) -> Vec<String> {
    let length = (0..=path.len())
        .rev()
        .find(|length| known.contains_key(&path[..*length]))
        .unwrap_or(0);
    let holder = &path[..length];
    if let (Some(source), Some(name), true) = (known.get(holder), path.get(length), depth > 0)
        && let Some(behind) = source.imports.get(name)
        && behind != path
    {
        let further = [behind.as_slice(), &path[length + 1..]].concat();
        return file_of(known, &further, depth - 1);
    }
    holder.to_vec()
}
