//! The parameters of sketches, in one line.

use std::fmt;
use std::str::FromStr;

use super::packed::fingerprinted;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::text::ShingleSet;

/// The parameters that sketches must have in common, as a line that accompanies each sketch.
///
/// The line begins with the threshold and a space. Sketches with the same line go into one store, which keeps shingles
/// and has the line's other parameters.
///
/// ```
/// use dedupdb::Schema;
/// use dedupdb::batch::Mark;
///
/// let schema = Schema::builder().threshold(0.7).seed(9).build()?;
/// let line = Mark::new(&schema).to_string();
/// assert!(line.starts_with("0.7 word:5 "));
/// assert_eq!(line.parse::<Mark>()?.schema(), &schema);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mark(Schema);

impl Mark {
    /// Makes the line of these parameters. It leaves out whether a store keeps shingles. It ends with the passage,
    /// unless that is 0.
    pub fn new(schema: &Schema) -> Mark {
        Mark(schema.clone())
    }

    /// Returns the parameters.
    pub fn schema(&self) -> &Schema {
        &self.0
    }

    /// Returns the shingles of a sketch with these parameters, as a store takes them: from the number of
    /// shingles, the packed shingles and the fingerprints. If the passage is 0, fingerprints are ignored.
    ///
    /// Returns `None` if the bytes are not of a sketch.
    ///
    /// ```
    /// use dedupdb::Schema;
    /// use dedupdb::batch::{KeyWidth, Mark, Sketcher};
    ///
    /// let schema = Schema::builder().passage(6).build()?;
    /// let text = "the night tram runs again from Friday on";
    /// let sketch = Sketcher::new(&schema, KeyWidth::Bits64)?.sketch(text)?;
    /// let mark = Mark::new(&schema);
    /// let set = mark.shingles(sketch.size, &sketch.packed, &sketch.fingerprints);
    /// assert_eq!(set, Some(schema.shingler()?.shingles(text)?));
    /// assert_eq!(mark.shingles(sketch.size, &sketch.packed, b"tram"), None);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn shingles(&self, size: u32, packed: &[u8], fingerprints: &[u8]) -> Option<ShingleSet> {
        fingerprinted((size, packed), self.0.fingerprint_step(), fingerprints)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = &self.0;
        let folded = |is_so, name| if is_so { name } else { "" };
        write!(
            f,
            "{} {} {} {} {} {} {} {}{}{}",
            schema.threshold(),
            schema.shingling(),
            schema.permutations(),
            schema.bands(),
            schema.slot_width(),
            schema.family(),
            schema.seed(),
            folded(schema.lowercase(), "l"),
            folded(schema.nfkc(), "n"),
            folded(schema.fold_marks(), "m"),
        )?;
        match schema.passage() {
            0 => Ok(()),
            passage => write!(f, " {passage}"),
        }
    }
}

impl FromStr for Mark {
    type Err = Error;

    fn from_str(line: &str) -> Result<Mark> {
        let parts: Vec<&str> = line.split(' ').collect();
        let &[
            threshold,
            shingling,
            permutations,
            bands,
            slot_bits,
            family,
            seed,
            folds,
            ref passage @ ..,
        ] = parts.as_slice()
        else {
            return Err(unknown(line));
        };
        let passage = match passage {
            [] => "0",
            &[passage] => passage,
            _ => return Err(unknown(line)),
        };
        if !matches!(folds, "" | "l" | "n" | "ln" | "nm" | "lnm") {
            return Err(unknown(line));
        }
        let has = |fold: char, yes: &'static str, no: &'static str| {
            if folds.contains(fold) { yes } else { no }
        };
        let parameters = [
            ("threshold", threshold),
            ("shingling", shingling),
            ("permutations", permutations),
            ("bands", bands),
            ("slot-bits", slot_bits),
            ("family", family),
            ("seed", seed),
            ("lowercase", has('l', "true", "false")),
            ("nfkc", has('n', "true", "false")),
            ("fold", has('m', "marks", "none")),
            ("shingles", "true"),
            ("passage", passage),
        ];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mark = Mark(Schema::from_parameters(&parameters)?);
        // Parameters have only one line, because lines are compared as text.
        if mark.to_string() == line {
            Ok(mark)
        } else {
            Err(unknown(line))
        }
    }
}

fn unknown(line: &str) -> Error {
    Error::InvalidSchema {
        parameter: "sketches",
        reason: format!("{line:?} is no line of parameters"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::SlotWidth;
    use crate::text::Shingling;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let other = Schema::builder()
            .shingling(Shingling::Char(24))
            .threshold(0.1 + 0.2)
            .permutations(64)
            .slot_width(SlotWidth::Bits8)
            .bands(16, 4)
            .lowercase(false)
            .fold_marks(true);
        let passage = Schema::builder().passage(20).build().unwrap();
        for schema in [Schema::default(), other.build().unwrap(), passage] {
            let line = Mark::new(&schema).to_string();
            assert_eq!(line.parse::<Mark>().unwrap().schema(), &schema, "{line}");
        }
        let ids = Schema::builder().shingling(Shingling::Ids).build().unwrap();
        let line = Mark::new(&ids).to_string();
        assert!(line.ends_with(' '), "nothing is folded: {line:?}");
        assert_eq!(line.parse::<Mark>().unwrap().schema(), &ids);
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let line = Mark::new(&Schema::default()).to_string();
        for wrong in [
            "",
            "0.8",
            &line[1..],
            &format!("{line} x"),
            &format!("{line}x"),
            &format!("{line} 0"),
            &format!("{line} 4"),
            &format!("{line} 20 20"),
        ] {
            let error = wrong.parse::<Mark>().unwrap_err();
            assert!(matches!(error, Error::InvalidSchema { .. }), "{error}");
        }
    }
}
