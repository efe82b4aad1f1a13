//! The one error type of the crate.


/// What can go wrong, one variant for each situation a caller can act on.
///
/// The message of every variant is one line that says what is wrong and, where there is something
/// to do, what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A schema parameter is outside its range, or two of them contradict each other.
    InvalidSchema {
        /// The parameter's name as the command line and [`Schema`](crate::Schema) spell it.
        parameter: &'static str,
        /// What is wrong with the value and which values fit.
        reason: String,
    },
    /// A text does not have the form its schema asks for (only [`Shingling::Ids`] restricts it).
    ///
    /// [`Shingling::Ids`]: crate::Shingling::Ids
    InvalidText {
        /// What was expected and what was found, with its position.
        reason: String,
    },
}

/// The result of every fallible call of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::InvalidSchema { parameter, reason } => write!(f, "{parameter}: {reason}"),
            Error::InvalidText { reason } => write!(f, "{reason}"),
        }
    }
}

impl std::error::Error for Error {}

