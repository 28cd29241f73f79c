//! SHA-256, written as 64 lower-case hex digits.

use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// Returns the digest of these bytes.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the digest of everything a reader returns.
pub fn digest_of(mut from: impl Read) -> io::Result<String> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the digest of a list of byte strings. It includes each length, so different lists do not collide by
/// accident.
pub fn digest_parts<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut digest = PartsDigest::default();
    for part in parts {
        digest.add_part(part.as_ref());
    }
    digest.finish()
}

/// The digest of [`digest_parts`], of parts that come one by one.
#[derive(Default)]
pub struct PartsDigest(Sha256);

impl PartsDigest {
    /// Adds the next part.
    pub fn add_part(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Returns the digest of all parts.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Returns lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{digest, digest_of, digest_parts, hex};

    #[test]
    fn digests_are_those_of_fips_180_and_parts_do_not_run_together() {
        assert_eq!(hex(&[0, 0x9f, 255]), "009fff");
        assert_eq!(
            digest(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let long = vec![b'a'; 200_000];
        assert_eq!(digest_of(long.as_slice()).unwrap(), digest(&long));
        assert_eq!(digest_of(b"abc".as_slice()).unwrap(), digest(b"abc"));
        assert_ne!(digest_parts(["ab", "c"]), digest_parts(["a", "bc"]));
        assert_ne!(digest_parts(["a", ""]), digest_parts(["a"]));
        assert_eq!(
            digest_parts([b"a".to_vec(), b"b".to_vec()]),
            digest_parts(["a", "b"])
        );
    }
}
