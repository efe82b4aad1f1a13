//! Numbers and times as people read them.

mod counts;
mod times;

pub use counts::{bytes, counted, grouped, percent, seconds, small_percent};
pub use times::{date, unix_nanoseconds, unix_seconds, utc};
