//! Errors of bucket tables.

/// An error of a bucket table.
#[derive(Debug)]
pub(crate) enum BucketError {
    Redb(redb::Error),
    Damaged(String),
}

impl<E: Into<redb::Error>> From<E> for BucketError {
    fn from(error: E) -> Self {
        BucketError::Redb(error.into())
    }
}
