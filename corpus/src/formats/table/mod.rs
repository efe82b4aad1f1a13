//! Tables of text: a row has cells, and columns have names or numbers.

pub(crate) mod columns;
pub(crate) mod csv;
pub(crate) mod quoted;
pub(crate) mod tsv;
