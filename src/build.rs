//! The build script, which names the build by a digest of ralph's source.
//!
//! A journal thereby records the build whose words its entries are.

use std::fs::{File, read_dir};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    sources(Path::new("src"), &mut files)?;
    files.sort();
    let mut out = io::stdout();
    // FNV-1a distinguishes builds, but does not prevent a build from claiming another's name.
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let mut bytes = Vec::new();
        File::open(&file)?.read_to_end(&mut bytes)?;
        for byte in bytes {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        writeln!(out, "cargo::rerun-if-changed={}", file.display())?;
    }
    writeln!(out, "cargo::rustc-env=RALPH_SOURCE={digest:016x}")
}

/// Collects ralph's source files, without its tests.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in read_dir(folder)? {
        let path = entry?.path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, into)?;
        } else {
            into.push(path);
        }
    }
    Ok(())
}
