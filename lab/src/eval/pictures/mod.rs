//! Figures as pictures, the measurements beside their predictions.

mod accuracy;
mod bands;
mod recall;
mod shingles;
mod time;
mod tuning;

pub use accuracy::accuracy_picture;
pub use time::time_picture;
pub use tuning::s_curves;
