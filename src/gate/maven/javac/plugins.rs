//! Compiler plugins that start by themselves (`com.sun.source.util.Plugin.autoStart`).
//!
//! Owns: the search for their service in the entries of a class path.
//!
//! Promises: an entry that has the service is found: a jar's directory holds the names of its files as they are
//! (APPNOTE.TXT 4.4.17, 4.3.12; names are never compressed). What cannot be read counts as one that has it.
//!
//! Refuses to know: what the plugin does, whether it really starts by itself.

use crate::sys::disk::open_regular;
use std::io::{self, Read};
use std::path::Path;

/// By which a plugin is found.
pub(super) const SERVICE: &str = "META-INF/services/com.sun.source.util.Plugin";
/// Bytes that are looked at together.
const WINDOW: usize = 1 << 20;
/// Bytes of one jar.
const MAX_BYTES: u64 = 1 << 30;

/// True when one of the entries (split by `:`) may bring a plugin.
pub(super) fn any(classpath: &str) -> bool {
    classpath.split(':').filter(|entry| !entry.is_empty()).map(Path::new).any(brings)
}

fn brings(entry: &Path) -> bool {
    if entry.is_dir() {
        return entry.join(SERVICE).exists();
    }
    match open_regular(entry) {
        Ok(Some((file, _))) => holds(file, SERVICE.as_bytes()).unwrap_or(true),
        // javac leaves out what is not there.
        Ok(None) => false,
        Err(_) => true,
    }
}

/// True when these bytes stand in it; an error when it is too large.
fn holds(from: impl Read, wanted: &[u8]) -> io::Result<bool> {
    let mut from = from.take(MAX_BYTES + 1);
    let (mut window, mut total) = (Vec::new(), 0);
    loop {
        let overlap = window.len().min(wanted.len().saturating_sub(1));
        window.drain(..window.len() - overlap);
        let read = from.by_ref().take(WINDOW as u64).read_to_end(&mut window)?;
        total += read as u64;
        if total > MAX_BYTES {
            return Err(io::Error::other("the jar is too large"));
        }
        if read == 0 || window.windows(wanted.len()).any(|part| part == wanted) {
            return Ok(read > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SERVICE, WINDOW, any, holds};

    #[test]
    fn bytes_are_found_wherever_they_stand_and_over_the_end_of_a_window() {
        for at in [0, 1, WINDOW - 5, WINDOW - 1, WINDOW, 2 * WINDOW + 7] {
            let mut bytes = vec![b'M'; at];
            bytes.extend(b"wanted");
            assert!(holds(&bytes[..], b"wanted").unwrap(), "{at}");
            assert!(!holds(&bytes[..at + 5], b"wanted").unwrap(), "{at}");
        }
        assert!(!holds(&b""[..], b"wanted").unwrap());
    }

    #[test]
    fn a_jar_or_folder_with_the_service_brings_a_plugin_and_what_is_not_there_none() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).display().to_string();
        fs_err::write(at("plain.jar"), "PK\x03\x04 a/Foo.class").unwrap();
        fs_err::write(at("plugin.jar"), format!("PK\x03\x04 {SERVICE} a.Foo")).unwrap();
        fs_err::create_dir_all(home.path().join("classes").join(SERVICE)).unwrap();
        fs_err::create_dir(at("empty")).unwrap();
        for (path, brings) in [
            (String::new(), false),
            (format!("{}:{}::", at("plain.jar"), at("absent.jar")), false),
            (format!("{}:{}", at("plain.jar"), at("plugin.jar")), true),
            (format!("{}:{}", at("empty"), at("classes")), true),
            (at("empty"), false),
        ] {
            assert_eq!(any(&path), brings, "{path}");
        }
    }
}
