//! Mail: messages, and mailboxes of messages.

pub(crate) mod maildir;
pub(crate) mod mbox;
pub(crate) mod message;
mod transfer;
