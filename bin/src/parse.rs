//! Values of options.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{
    OsStringValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use clap::{Arg, Command};
use dedupdb::Error;
use dedupdb::sketching::Family;
use dedupdb::write::IdScope;
use dedupdb_corpus::Preset;
use dedupdb_corpus::dedup::{self, Keep, KeepBy};
use dedupdb_corpus::number;
use dedupdb_corpus::report::Report;
use dedupdb_corpus::{Encoding, Format, Glob, Key, check_path};

/// A share: `0.8` or `80%`, above 0 and at most 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = number::parse_share(text);
    share.ok_or_else(|| "give a share above 0 and up to 1, such as 0.8 or 80%".to_owned())
}

/// A share, or 0.
pub(crate) fn share_or_zero(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(0.0) => Ok(0.0),
        _ => share(text),
    }
}

/// A share of pairs to find: `0.98` or `98%`, above 0 and below 1.
pub(crate) fn recall(text: &str) -> Result<f64, String> {
    let share = number::parse_share(text).filter(|&share| share < 1.0);
    share.ok_or_else(|| "give a share above 0 and below 1, such as 0.98 or 98%".to_owned())
}

/// Which of several similar documents to keep.
pub(crate) fn keep(which: &str) -> Result<Keep, String> {
    match (which, which.parse()) {
        ("first", _) => Ok(Keep::First),
        ("longest", _) => Ok(Keep::Longest),
        ("newest", _) => Ok(Keep::Newest),
        ("none", _) => Ok(Keep::None),
        (_, Ok(few)) => Ok(Keep::Few(few)),
        _ => Err("give first, longest, newest, none, or a number from 1 on".to_owned()),
    }
}

/// An order by a field: `score` for the largest value, `-date` for the smallest.
pub(crate) fn keep_by(text: &str) -> Result<KeepBy, String> {
    text.parse()
        .map_err(|error: dedup::Error| error.to_string())
}

/// Values of a field that are preferred: `source=wiki,books`.
pub(crate) fn prefer(text: &str) -> Result<KeepBy, String> {
    match text.split_once('=') {
        Some((field, values)) if !field.is_empty() && !values.is_empty() => {
            Ok(KeepBy::preferred(field, values.split(',')))
        }
        _ => Err("give a field and its values, such as source=wiki,books".to_owned()),
    }
}

/// A parser with named values, which help shows and shells complete. It may accept others too.
#[derive(Clone)]
struct NamedValueParser<T> {
    names: &'static [&'static str],
    parse: fn(&str) -> Result<T, String>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for NamedValueParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// [`keep`], with its values named except for numbers.
pub(crate) fn keep_which() -> impl TypedValueParser<Value = Keep> {
    NamedValueParser {
        names: &["first", "longest", "newest", "none"],
        parse: keep,
    }
}

/// A family that a store can have.
pub(crate) fn family() -> impl TypedValueParser<Value = Family> {
    NamedValueParser {
        names: &["affine32", "linear-prime", "modular", "jenkins", "murmur"],
        parse: parameter,
    }
}

/// A parameter of a store. The error does not name the parameter, because the option does.
pub(crate) fn parameter<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| match error {
        Error::InvalidSchema { reason, .. } => reason,
        error => error.to_string(),
    })
}

/// A seed: a number, or `random` for one that differs from run to run.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    use std::hash::{BuildHasher, RandomState};
    if text == "random" {
        // The standard library's randomness needs no other crate.
        return Ok(RandomState::new().hash_one(text));
    }
    text.parse()
        .map_err(|_| "give a whole number from 0 to 18446744073709551615, or random".to_owned())
}

/// A seed, and whether it was chosen at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed {
    pub(crate) number: u64,
    pub(crate) is_random: bool,
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Seed, String> {
        Ok(Seed {
            number: seed(text)?,
            is_random: text == "random",
        })
    }
}

/// A number of things, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountOrAll {
    All,
    Some(usize),
}

impl CountOrAll {
    /// The number, if there are `all` things.
    pub(crate) fn of(self, all: usize) -> usize {
        match self {
            CountOrAll::All => all,
            CountOrAll::Some(number) => number.min(all),
        }
    }
}

/// A number of things, or `all`.
pub(crate) fn some_or_all(text: &str) -> Result<CountOrAll, String> {
    if text == "all" {
        return Ok(CountOrAll::All);
    }
    at_least_one(text)
        .map(CountOrAll::Some)
        .map_err(|reason| format!("{reason}, or all"))
}

/// A whole number of at least 1.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| "give a whole number from 1 on".to_owned())
}

/// A whole number of at least 2.
pub(crate) fn at_least_two(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number > 1);
    number.ok_or_else(|| "give a whole number from 2 on".to_owned())
}

/// Lengths of shingles. Both bounds are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) from: u8,
    pub(crate) to: u8,
}

/// Lengths of shingles: `1..12`, or `5` for one length.
pub(crate) fn lengths(text: &str) -> Result<Lengths, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let lengths = from.parse().ok().zip(to.parse().ok());
    let lengths = lengths.map(|(from, to)| Lengths { from, to });
    lengths
        .filter(|lengths| 1 <= lengths.from && lengths.from <= lengths.to && lengths.to <= 64)
        .ok_or_else(|| "give lengths from 1 to 64, such as 1..12, or one such as 5".to_owned())
}

/// A key, which is not empty.
pub(crate) fn key(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("a key has at least one byte".to_owned());
    }
    Ok(text.to_owned())
}

/// A key, or the name of a file. In a name that is not UTF-8, bytes are spelled as in the key of the file.
pub(crate) fn name() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|name| key(&spelled(name)))
}

fn spelled(name: OsString) -> String {
    name.into_string().unwrap_or_else(|name| {
        let end = if name.as_encoded_bytes().ends_with(b"/") {
            "/"
        } else {
            ""
        };
        Key::of(Path::new(&name)).text + end
    })
}

/// A path: the name of a file or folder, or the key of a file as it is listed.
pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| path.to_str().map(file).unwrap_or(path))
}

/// The file of this name, or else the one whose key this is.
pub(crate) fn file(name: &str) -> PathBuf {
    let path = PathBuf::from(name);
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if is_there(&path) {
        return path;
    }
    Key::path(name)
        .filter(|other| is_there(other))
        .unwrap_or(path)
}

/// A field's name. Neither it nor any part between its dots is empty.
pub(crate) fn field(text: &str) -> Result<String, String> {
    if text.split('.').any(str::is_empty) {
        return Err("give a name such as text, or meta.text for one inside another".to_owned());
    }
    Ok(text.to_owned())
}

/// The path of a text.
pub(crate) fn text_field(text: &str) -> Result<String, String> {
    check_path(text).map(|()| text.to_owned())
}

/// A prefix of keys. It is not empty, because every key begins with an empty one.
pub(crate) fn prefix() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|prefix| match spelled(prefix) {
        empty if empty.is_empty() => {
            Err("an empty prefix is that of every document; give at least one byte")
        }
        prefix => Ok(prefix),
    })
}

/// A prefix of keys, which may be empty.
pub(crate) fn any_prefix() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(spelled)
}

/// An encoding, by one of its names in the Encoding Standard.
pub(crate) fn encoding(name: &str) -> Result<Encoding, String> {
    name.parse().map_err(|_| {
        "give the name of an encoding, such as windows-1252, shift_jis, gbk or utf-16le".to_owned()
    })
}

/// Programs that write another file beside a file if its path is their only argument.
const BESIDE: [&str; 2] = ["pdftotext", "pdftohtml"];

/// A program that can be started: a path, or a name that is searched for as the system does.
pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    let file_name = path.file_stem().and_then(|name| name.to_str());
    if file_name.is_some_and(|name| BESIDE.contains(&name)) {
        return Err(format!(
            "`{name} PATH` writes a file beside PATH, perhaps over one of yours; put `{name} - -` into a script, and \
             name that"
        ));
    }
    let is_path = path.components().count() > 1 || name.starts_with('.');
    let path_list = std::env::var_os("PATH").filter(|_| !is_path);
    let folders = path_list.iter().flat_map(std::env::split_paths);
    let mut places: Vec<PathBuf> = folders.map(|folder| folder.join(&path)).collect();
    if is_path {
        places.push(path.clone());
    }
    if places.iter().any(|place| is_executable(place)) || cfg!(windows) {
        return Ok(path);
    }
    if places.iter().any(|place| place.is_file()) {
        return Err(format!(
            "it is not executable; make it so with: chmod +x {name}"
        ));
    }
    if name.contains(char::is_whitespace) {
        return Err(
            "there is no such program; name one without arguments, and put those into a script"
                .to_owned(),
        );
    }
    Err("there is no such program".to_owned())
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// A pattern for names.
pub(crate) fn glob(glob: &str) -> Result<Glob, String> {
    glob.parse()
        .map_err(|error: dedupdb_corpus::Error| error.to_string())
}

/// A format by its name.
pub(crate) fn format() -> impl TypedValueParser<Value = Format> {
    let help = |format| match format {
        Format::Text => "One document, unchanged",
        Format::Html => "One document, without tags",
        Format::Jsonl => "Lines with a JSON object each",
        Format::Json => "An array of JSON objects",
        Format::Csv => "A table with commas, quotes and a header",
        Format::Tsv => "A table with tabs and a header, or lines with a key, a tab and a text",
        Format::Parquet => "A table of columns",
        Format::Warc => "A web archive: texts, and pages without tags",
        Format::Eml => "One document: the body of a mail message",
        Format::Mbox => "A mailbox: the bodies of its messages",
        Format::Shingles => {
            "Lines with a key and the integers that are its shingles, for --shingling ids"
        }
        _ => "",
    };
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(help(format)));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// A tool whose parameters are known, by name.
pub(crate) fn preset() -> impl TypedValueParser<Value = Preset> {
    let help = |preset| match preset {
        Preset::Fineweb => "FineWeb: five words, 14 bands of 8 rows, 0.75",
        Preset::Nemo => "NeMo Curator: 24 characters as they are, 20 bands of 13 rows, 0.8",
        Preset::Refinedweb => {
            "RefinedWeb: five words, 450 bands of 20 rows, 0.8; 18,000 bytes of signature a document"
        }
        _ => "text-dedup: five words, 25 bands of 10 rows of 250 permutations, 0.7",
    };
    let values = Preset::ALL.map(|preset| PossibleValue::new(preset.name()).help(help(preset)));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// The scope in which an id is unique.
pub(crate) fn id_scope() -> impl TypedValueParser<Value = IdScope> {
    let all = PossibleValue::new("all")
        .help("In all files together: the key is the id, and a later text replaces an earlier one");
    let file = PossibleValue::new("file")
        .help("In each file: the key is PATH#ID, with the path as it is given");
    PossibleValuesParser::new([all, file]).map(|name| match &*name {
        "file" => IdScope::File,
        _ => IdScope::All,
    })
}

/// A size in bytes: `1000`, `500kB`, `64MiB` or `1.5GiB`; at least one byte.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let bytes = number::parse_bytes(text).filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| {
        "give a size above 0, such as 64MiB or 500kB, or a number of bytes".to_owned()
    })
}

/// The minimum of `--memory`. Batches, the cache of the index and a commit take about this much, however little waits
/// for the commit.
const LEAST_MEMORY: u64 = 384 << 20;

/// The memory that a command may use.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    let bytes = size(text)?;
    if bytes < LEAST_MEMORY {
        return Err(format!(
            "give at least 384MiB; {} would not be enough",
            number::bytes(bytes)
        ));
    }
    Ok(bytes)
}

/// The maximum size of a page.
pub(crate) fn page(text: &str) -> Result<u64, String> {
    let bytes = size(text)?;
    if bytes < Report::LEAST_BYTES {
        return Err(format!(
            "give at least 200kB; {} would not be enough",
            number::bytes(bytes)
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{CountOrAll, Lengths, lengths, seed, some_or_all};

    #[test]
    fn lengths_are_a_range_or_one() {
        assert_eq!(lengths("1..12"), Ok(Lengths { from: 1, to: 12 }));
        assert_eq!(lengths("5"), Ok(Lengths { from: 5, to: 5 }));
        for wrong in ["", "0", "0..3", "5..4", "1..65", "1..", "..", "1-3"] {
            assert!(lengths(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn all_is_a_number_too() {
        assert_eq!(some_or_all("all"), Ok(CountOrAll::All));
        assert_eq!(CountOrAll::All.of(9), 9);
        assert_eq!(some_or_all("7").map(|number| number.of(5)), Ok(5));
        assert!(some_or_all("0").is_err());
    }

    #[test]
    fn random_seeds_differ() {
        assert_eq!(seed("7"), Ok(7));
        assert_ne!(seed("random"), seed("random"));
        assert!(seed("-1").is_err());
    }
}
