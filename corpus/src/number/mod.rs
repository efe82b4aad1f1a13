//! Numbers and times as people read and type them.

mod counts;
mod moment;
mod similarity;
pub(crate) mod times;
mod typed;

pub use counts::{bytes, counted, grouped, percent, seconds};
pub(crate) use moment::moment;
pub use similarity::four_decimals;
pub use times::{date, unix_nanoseconds, unix_seconds, utc, utc_date};
pub use typed::{parse_bytes, parse_share, parse_span};
