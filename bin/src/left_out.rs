//! Reports what was left out: on standard error, and in a file.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::console::Console;
use crate::inputs::STDIN;
use crate::json;
use crate::number::grouped;
use crate::output::escape;
use dedupdb_corpus::publish::{AtomicFile, check_output, check_outputs};
use dedupdb_corpus::{Hint, Reason, Skipped};

/// The number of items per reason that are named on standard error. The others are counted.
const NAMED: u64 = 10;

/// Which items are named on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamingScope {
    /// The first failures. A summary counts the rest.
    Failures,
    /// The first of each reason. There is no summary.
    First,
    All,
}

/// How they are reported.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Inputs")]
pub(crate) struct LeftOutArgs {
    /// Name every file and record that is left out on standard error
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// List what is left out in FILE, with the reasons; JSON if FILE ends in .jsonl. It replaces only such a
    /// list
    #[arg(long, value_name = "FILE")]
    pub(crate) skipped: Option<PathBuf>,
}

impl LeftOutArgs {
    /// Refuses a list that is, contains or lies in an input or a store, and a list in place of another output or of a
    /// file that is not such a list.
    pub(crate) fn check(&self, inputs: &[PathBuf], outputs: &[&Path]) -> Result<()> {
        let Some(list) = &self.skipped else {
            return Ok(());
        };
        if list == Path::new(STDIN) {
            bail!("--skipped needs the name of a file");
        }
        check_output(list, inputs)?;
        for output in outputs {
            check_outputs(list, output)?;
        }
        check_replaced(list)
    }
}

/// Refuses to replace a file that is not such a list. Empty files, devices and pipes may be written to.
fn check_replaced(list: &Path) -> Result<()> {
    if !list.is_file() {
        return Ok(());
    }
    let mut lines = BufReader::new(File::open(list)?).lines();
    let is_list = lines.all(|line| line.is_ok_and(|line| is_of_list(&line)));
    if !is_list {
        bail!(
            "{}: this file exists and is not a list of --skipped; name another file",
            list.display()
        );
    }
    Ok(())
}

/// Whether this is a line of a list, in either form.
fn is_of_list(line: &str) -> bool {
    let is_reason = |name: &str| Reason::ALL.iter().any(|reason| reason.name() == name);
    match serde_json::from_str(line) {
        Ok(serde_json::Value::Object(fields)) => {
            let reason = fields.get("reason").and_then(serde_json::Value::as_str);
            fields.len() == 3 && reason.is_some_and(is_reason)
        }
        _ => matches!(line.split('\t').collect::<Vec<_>>()[..], [_, name, _] if is_reason(name)),
    }
}

/// Reports what was left out.
#[derive(Debug)]
pub(crate) struct LeftOutReporter {
    console: Console,
    named: NamingScope,
    /// By reason, and whether it is a failure.
    counts: BTreeMap<(Reason, bool), ReasonCount>,
    /// Files with a record that was named because it lacks the text field: most of their other records will lack it
    /// too.
    fieldless: HashSet<String>,
    /// Whether ids of several files make a question, which is asked once.
    has_question: bool,
    /// The lines about the failures that were named.
    failures: Vec<String>,
    list: Option<LeftOutList>,
}

/// The items that were left out for a reason.
#[derive(Clone, Copy, Debug, Default)]
struct ReasonCount {
    all: u64,
    named: u64,
}

#[derive(Debug)]
struct LeftOutList {
    path: PathBuf,
    file: AtomicFile,
    is_json: bool,
}

impl LeftOutReporter {
    /// Starts to report. `named` says what goes to `console`, unless `telling` asks for everything.
    ///
    /// # Errors
    ///
    /// If the list cannot be written.
    pub(crate) fn begin(
        console: &Console,
        telling: &LeftOutArgs,
        named: NamingScope,
    ) -> Result<LeftOutReporter> {
        let begin = |path: &PathBuf| -> Result<LeftOutList> {
            Ok(LeftOutList {
                path: path.clone(),
                file: AtomicFile::create(path)?,
                is_json: path.extension().is_some_and(|end| end == "jsonl"),
            })
        };
        Ok(LeftOutReporter {
            console: console.clone(),
            named: if telling.verbose {
                NamingScope::All
            } else {
                named
            },
            counts: BTreeMap::new(),
            fieldless: HashSet::new(),
            has_question: false,
            failures: Vec::new(),
            list: telling.skipped.as_ref().map(begin).transpose()?,
        })
    }

    /// Reports one item.
    ///
    /// # Errors
    ///
    /// If the list cannot be written.
    pub(crate) fn tell(&mut self, skipped: &Skipped) -> Result<()> {
        if let Some(list) = &mut self.list {
            list.push(skipped)?;
        }
        self.has_question |= skipped.hint == Some(Hint::IdScope);
        let is_failure = skipped.is_failure();
        // A text that can be read with --encoding is probably wanted.
        let is_readable = matches!(skipped.hint, Some(Hint::Utf16Le | Hint::Utf16Be));
        if self.named == NamingScope::Failures && !is_failure && !skipped.named && !is_readable {
            return Ok(());
        }
        let count = self.counts.entry((skipped.reason, is_failure)).or_default();
        count.all += 1;
        let is_enough = |files| count.named == NAMED || is_fieldless(skipped, files);
        if self.named != NamingScope::All && is_enough(&mut self.fieldless) {
            return Ok(());
        }
        count.named += 1;
        if is_failure {
            let message = skipped.told(advice_on_one);
            self.console.error(&message);
            self.failures.push(message);
        } else {
            let message = skipped.told(advice_on_one);
            self.console.note(&format!("{message}; left out"));
        }
        Ok(())
    }

    /// Returns the lines about the failures that were named so far.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Reports one item in the list alone, unless everything is asked for.
    ///
    /// # Errors
    ///
    /// If the list cannot be written.
    pub(crate) fn list(&mut self, skipped: &Skipped) -> Result<()> {
        if self.named == NamingScope::All {
            return self.tell(skipped);
        }
        self.list.as_mut().map_or(Ok(()), |list| list.push(skipped))
    }

    /// Reports the counts of those that were not named, asks what their ids mean, and publishes the list.
    ///
    /// # Errors
    ///
    /// If the list cannot be written.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let options = match &self.list {
            Some(_) => "",
            None => "; -v names all, --skipped FILE lists them",
        };
        for ((reason, is_failure), count) in std::mem::take(&mut self.counts) {
            let more = count.all - count.named;
            if more == 0 {
                continue;
            }
            let told = format!("and {} more: {}{options}", grouped(more), reason.name());
            if is_failure {
                self.console.error(&told);
            } else {
                self.console.note(&told);
            }
        }
        if std::mem::take(&mut self.has_question) {
            self.console.error(
                "are these the same documents (--id-scope all), or others (--id-scope file, keys become PATH#ID)?",
            );
        }
        match self.list.take() {
            Some(list) => {
                // Somebody may have made a file there meanwhile.
                check_replaced(&list.path)?;
                list.file.finish()?;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Whether an earlier record of the same file also lacked the text field. Remembers the file.
fn is_fieldless(skipped: &Skipped, files: &mut HashSet<String>) -> bool {
    let file = skipped
        .place
        .rsplit_once([':', '#'])
        .map(|(file, _)| file.to_owned());
    let file = file.filter(|_| matches!(skipped.hint, Some(Hint::TextField | Hint::ItemField)));
    file.is_some_and(|file| !files.insert(file))
}

/// What helps, in terms of this program's options.
pub(crate) fn advice(hint: Hint) -> &'static str {
    match hint {
        Hint::TextField => " (choose one with --text-field)",
        Hint::ItemField => " (choose some with --against-field)",
        Hint::IdField => "; choose another one with --id-field",
        Hint::Columns => "; choose columns by name or by number with --text-field and --id-field",
        Hint::Encoding => "; if it is in another encoding, name that with --encoding",
        Hint::Utf16Le => "; if it is UTF-16, give --encoding utf-16le",
        Hint::Utf16Be => "; if it is UTF-16, give --encoding utf-16be",
        Hint::Memory => "; give `add` or `dedup` more with --memory, or decompress it first",
        Hint::IdScope => {
            "; the same document (--id-scope all), or another one (--id-scope file, keys become PATH#ID)?"
        }
        other => other.words(),
    }
}

/// What helps with one of several items. What is asked after them is left out.
fn advice_on_one(hint: Hint) -> &'static str {
    match hint {
        Hint::IdScope => "",
        other => advice(other),
    }
}

impl LeftOutList {
    fn push(&mut self, skipped: &Skipped) -> Result<()> {
        let (place, reason) = (&skipped.place, skipped.reason.name());
        let detail = &format!(
            "{}{}",
            skipped.detail(),
            skipped.hint.map_or("", advice_on_one)
        );
        let line = if self.is_json {
            json::line(&json::LeftOutJson {
                place,
                reason,
                detail: Some(detail.as_str()).filter(|detail| !detail.is_empty()),
            })?
        } else {
            format!("{}\t{reason}\t{}", escape(place), escape(detail))
        };
        Ok(self.file.write(format!("{line}\n").as_bytes())?)
    }
}
