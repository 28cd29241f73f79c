//! The k-th of n parts of a whole that jobs of CI share out: `2/4`.

use std::fmt;
use std::str::FromStr;

/// Jobs that work is shared out over at most.
pub const MAX_SHARDS: usize = 256;

/// The k-th of n parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// The only part.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// All parts of a whole with `of` parts, in order.
    pub fn all_of(of: usize) -> impl Iterator<Item = Self> {
        (1..=of).map(move |number| Self { number, of })
    }

    /// Its place among the parts, from 0.
    pub fn index(self) -> usize {
        self.number - 1
    }

    /// The number of parts.
    pub fn part_count(self) -> usize {
        self.of
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('/')
            .and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) && of <= MAX_SHARDS => {
                Ok(Self { number, of })
            }
            _ => Err(format!(
                "a part is `k/n`, from 1/n to n/n, n at most {MAX_SHARDS}"
            )),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn a_part_is_read_as_it_is_written_and_nothing_else_is_one() {
        for text in ["1/1", "2/4", "256/256"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
        for text in ["", "1", "0/2", "3/2", "1/257", "a/b", "1/2/3", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        let all: Vec<usize> = Shard::all_of(3).map(Shard::index).collect();
        assert_eq!(all, [0, 1, 2]);
    }
}
