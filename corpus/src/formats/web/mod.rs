//! Web pages, and archives of them.

pub(crate) mod html;
pub(crate) mod http;
mod markup;
pub(crate) mod warc;
