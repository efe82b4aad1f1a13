//! The requests of a program that talks to this one by standard input and output.

#[cfg(test)]
mod laws;
mod reader;
mod request;
mod session;

pub(crate) use reader::RequestReader;
pub(crate) use request::{Request, RequestBody, RequestId};
pub(crate) use session::{Answer, Session};
