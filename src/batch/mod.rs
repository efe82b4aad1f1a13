//! Steps of finding what is alike, on plain slices.

mod forest;

pub(crate) use forest::Forest;
