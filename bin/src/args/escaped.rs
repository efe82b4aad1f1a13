//! Arguments that are keys in their printed form.

use std::borrow::Cow;

use anyhow::Result;

use crate::output::unescape;

/// How keys are given.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct EscapedArgs {
    /// Read keys in their printed form: \n is a line break, \\ a backslash
    #[arg(long)]
    escaped: bool,
}

impl EscapedArgs {
    /// What to do if no document has the key `given`, which may be in its printed form.
    pub(crate) fn hint(self, given: &str) -> &'static str {
        if !self.escaped && given.contains('\\') {
            "; if a list printed it like this, add --escaped"
        } else {
            ""
        }
    }

    /// The key that `given` means.
    ///
    /// # Errors
    ///
    /// If `given` is not in the form in which keys are printed.
    pub(crate) fn key(self, given: &str) -> Result<Cow<'_, str>> {
        Ok(if self.escaped {
            Cow::Owned(unescape(given)?)
        } else {
            Cow::Borrowed(given)
        })
    }
}
