//! Addresses that a page links to. Names from journals and repositories never choose the scheme.

use std::fmt::Write as _;
use std::path::{Component, Path};

/// Software of a forge, as far as its host's name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forge {
    Github,
    Gitlab,
    Bitbucket,
    Other,
}

/// Returns the address in front of a commit's id on the forge of this remote; `None` if the remote has no web page.
///
/// `git@github.com:acme/app.git` gives `https://github.com/acme/app/commit/`.
pub fn commit_pages(remote: &str) -> Option<String> {
    let (repository, forge) = repository_page(remote)?;
    let below = match forge {
        Forge::Gitlab => "/-/commit/",
        Forge::Bitbucket => "/commits/",
        Forge::Github | Forge::Other => "/commit/",
    };
    Some(repository + below)
}

/// Returns the address of the repository's page, and its forge; `None` if the remote has no web page.
pub fn repository_page(remote: &str) -> Option<(String, Forge)> {
    let (host, path) = if let Some((scheme, rest)) = remote.split_once("://") {
        if !matches!(scheme, "https" | "http" | "ssh" | "git") {
            return None;
        }
        let (host, path) = rest.split_once('/')?;
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        // The port of ssh or git is not that of the web page.
        let host = if scheme.starts_with("http") {
            host
        } else {
            host.split_once(':').map_or(host, |(host, _)| host)
        };
        (host, path)
    } else {
        let (host, path) = remote.split_once(':')?;
        (host.split_once('@')?.1, path)
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    // A host without a dot is a name of an ssh configuration or of this machine.
    if !host.contains('.')
        || !host
            .chars()
            .all(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':'))
        || !path.contains('/')
    {
        return None;
    }
    let forge = if host.contains("gitlab") {
        Forge::Gitlab
    } else if host == "bitbucket.org" {
        Forge::Bitbucket
    } else if host.contains("github") {
        Forge::Github
    } else {
        Forge::Other
    };
    Some((format!("https://{host}/{}", encoded(path)), forge))
}

/// Returns the address of a file relative to a directory, both absolute and without links.
pub fn relative_address(directory: &Path, file: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (
        directory.components().collect(),
        file.components().collect(),
    );
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut address = if from.len() == common {
        "./".to_owned()
    } else {
        "../".repeat(from.len() - common)
    };
    let rest: Vec<String> = to
        .iter()
        .skip(common)
        .map(|part| encoded(&part.as_os_str().to_string_lossy()))
        .collect();
    address.push_str(&rest.join("/"));
    address
}

/// True for a path from the workspace that stays in it.
pub fn is_inside(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::Normal(_)))
        && path.components().next().is_some()
}

/// Percent-encodes everything but letters, digits, `/`, `.`, `-`, `_` and `~`.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/.-_~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_has_its_page_and_what_is_no_remote_has_none() {
        let pages = |remote: &str| commit_pages(remote);
        for remote in [
            "https://github.com/acme/app.git",
            "https://me:secret@github.com/acme/app",
            "git@github.com:acme/app.git",
            "ssh://git@github.com:22/acme/app.git",
        ] {
            assert_eq!(
                pages(remote).as_deref(),
                Some("https://github.com/acme/app/commit/")
            );
        }
        assert_eq!(
            pages("https://gitlab.example.org:8443/a/b/c.git").as_deref(),
            Some("https://gitlab.example.org:8443/a/b/c/-/commit/")
        );
        assert_eq!(
            pages("git@bitbucket.org:a/\"><script>.git").as_deref(),
            Some("https://bitbucket.org/a/%22%3E%3Cscript%3E/commits/")
        );
        for remote in [
            "",
            "/srv/git/app.git",
            "../app",
            "file:///srv/git/app.git",
            "javascript://github.com/%0aalert(1)",
            "git@work:acme/app.git",
            "https://exa mple.org/a/b",
            "https://github.com/",
        ] {
            assert_eq!(pages(remote), None, "{remote}");
        }
    }

    #[test]
    fn a_report_is_reached_from_where_the_page_is() {
        let report = Path::new("/w/.ralph/state/iter-6/a b#c.html");
        for (directory, address) in [
            ("/w", "./.ralph/state/iter-6/a%20b%23c.html"),
            ("/w/docs", "../.ralph/state/iter-6/a%20b%23c.html"),
            ("/", "./w/.ralph/state/iter-6/a%20b%23c.html"),
            ("/x/y", "../../w/.ralph/state/iter-6/a%20b%23c.html"),
        ] {
            assert_eq!(relative_address(Path::new(directory), report), address);
        }
        assert!(is_inside(Path::new(".ralph/state/iter-1/index.html")));
        for path in ["", "/etc/passwd", "../x", "a/../../x"] {
            assert!(!is_inside(Path::new(path)), "{path}");
        }
    }
}
