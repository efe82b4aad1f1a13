//! Mail: messages, and mailboxes of messages.

mod look_ahead;
pub(crate) mod maildir;
pub(crate) mod mbox;
pub(crate) mod message;
mod transfer;
