//! Values of options.

/// A share: `0.8` or `80%`, above 0 and at most 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, whole) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share = number.parse::<f64>().ok().map(|number| number / whole);
    share
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| "give a number above 0 and up to 1, such as 0.8, or 80%".to_owned())
}

/// A seed: a number, or `random` for one that differs from run to run.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    use std::hash::{BuildHasher, RandomState};
    if text == "random" {
        // The standard library's randomness needs no further crate.
        return Ok(RandomState::new().hash_one(text));
    }
    text.parse()
        .map_err(|_| "give a whole number from 0 to 18446744073709551615, or random".to_owned())
}

/// A key: not empty.
pub(crate) fn key(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("a key has at least one byte".to_owned());
    }
    Ok(text.to_owned())
}

/// The beginning of keys: not empty, for every key begins with nothing.
pub(crate) fn prefix(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("an empty prefix is that of every document; give at least one byte".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{seed, share};

    #[test]
    fn shares_are_numbers_or_percent() {
        assert_eq!(share("0.8"), Ok(0.8));
        assert_eq!(share("80%"), Ok(0.8));
        assert_eq!(share("1"), Ok(1.0));
        for wrong in ["0", "1.01", "80", "101%", "nan", "inf", "", "%", "x"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn random_seeds_differ() {
        assert_eq!(seed("7"), Ok(7));
        assert_ne!(seed("random"), seed("random"));
        assert!(seed("-1").is_err());
    }
}
