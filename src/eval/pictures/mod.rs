//! Figures as pictures, the measured ones beside their prediction.

mod accuracy;
mod bands;
mod recall;
mod shingles;
mod time;
mod tuning;

pub use accuracy::accuracy_picture;
pub use time::time_picture;
pub use tuning::s_curves;
