//! An encoding by name.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// An encoding of text, by one of its names in the Encoding Standard.
///
/// `"latin1".parse::<Encoding>()` is `windows-1252`, as in browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(pub(crate) &'static encoding_rs::Encoding);

impl Encoding {
    /// The name that the Encoding Standard prefers.
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(name: &str) -> Result<Encoding, Error> {
        let found = encoding_rs::Encoding::for_label_no_replacement(name.as_bytes());
        found.map(Encoding).ok_or_else(|| Error::UnknownEncoding {
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
