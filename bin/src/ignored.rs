//! `--ignore`: texts whose shingles do not count.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dedupdb::sketching::{ShingleSet, Shingling};
use dedupdb::{Progress, Schema};
use dedupdb_corpus::{EachEvent, ForEach, Options};

use crate::args::Args;
use crate::console::Console;
use crate::inputs::{STDIN, sources};
use crate::left_out::advice;
use crate::number::counted;
use crate::{parse, store};

/// Texts that do not count.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct IgnoreArgs {
    /// Compare texts without what this file, folder or store has of them, such as a template; may be repeated
    #[arg(long, value_name = "PATH", value_parser = parse::path())]
    pub(crate) ignore: Vec<PathBuf>,
}

impl IgnoreArgs {
    /// The shingles that do not count; `None` if all do. Says how many they are.
    ///
    /// # Errors
    ///
    /// Something cannot be read, or has no shingles, or those of another kind.
    pub(crate) fn shingles(
        &self,
        args: &Args,
        schema: &Schema,
        options: &Options,
        console: &Console,
    ) -> Result<Option<ShingleSet>> {
        if self.ignore.is_empty() {
            return Ok(None);
        }
        if self.ignore.iter().any(|path| path == Path::new(STDIN)) {
            bail!("--ignore needs the names of files, folders or stores");
        }
        let (stores, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
            self.ignore.iter().partition(|path| store::is_store(path));
        let mut ignored = Ignored::default();
        for folder in stores {
            ignored.read_store(args, folder, schema)?;
        }
        if !files.is_empty() {
            let files: Vec<PathBuf> = files.into_iter().cloned().collect();
            ignored.read_files(&files, schema, options)?;
        }
        let shingles = ShingleSet::from_hashes(ignored.hashes);
        if shingles.is_empty() {
            bail!("--ignore: there are no words in what it names");
        }
        if ignored.short > 0 {
            console.note(&format!(
                "--ignore: {} shorter than a shingle, and found only in texts of the same words",
                counted(ignored.short, "text is", "texts are"),
            ));
        }
        console.note(&format!(
            "{} of {} in --ignore do not count",
            counted(shingles.len() as u64, "shingle", "shingles"),
            counted(ignored.texts, "text", "texts"),
        ));
        Ok(Some(shingles))
    }
}

/// What is known of the texts that do not count.
#[derive(Debug, Default)]
struct Ignored {
    hashes: Vec<u32>,
    texts: u64,
    /// Texts of fewer tokens than a shingle has.
    short: u64,
}

impl Ignored {
    fn take(&mut self, shingles: &ShingleSet) {
        self.hashes.extend_from_slice(shingles.as_slice());
        self.texts += 1;
    }

    fn read_store(&mut self, args: &Args, folder: &Path, schema: &Schema) -> Result<()> {
        let other = store::open_other(&store::options(args), folder)?;
        if kind(&other.schema()) != kind(schema) {
            bail!(
                "{}: its shingles are of another kind, so they cannot be ignored here; give the texts to --ignore",
                folder.display()
            );
        }
        for document in other.documents()? {
            self.take(&other.shingles(&document?)?);
        }
        Ok(())
    }

    fn read_files(&mut self, paths: &[PathBuf], schema: &Schema, options: &Options) -> Result<()> {
        let shingler = schema.shingler()?;
        let k = usize::from(schema.shingling().k());
        let mut failed = None;
        let progress = Progress::new();
        let each = ForEach::new(sources(paths, None))
            .reading(options.clone())
            .progress(&progress);
        let worked = each.run(
            |document| {
                let shingles = shingler.shingles(document.text())?;
                let is_short = shingles.len() == 1 && shingler.places(document.text()).len() < k;
                Ok((shingles, is_short))
            },
            |event| {
                let taken = match event {
                    EachEvent::Document(_, (shingles, is_short)) => {
                        self.take(&shingles);
                        self.short += u64::from(is_short);
                        Ok(())
                    }
                    EachEvent::Skipped(skipped) if skipped.is_failure() => {
                        Err(anyhow::anyhow!("--ignore: {}", skipped.told(advice)))
                    }
                    _ => Ok(()),
                };
                progress.stop_on(taken, &mut failed);
            },
        );
        if let Some(error) = failed {
            return Err(error);
        }
        worked.map(drop).map_err(store::of_corpus)
    }
}

/// What decides which shingles a text has.
fn kind(schema: &Schema) -> (Shingling, [bool; 3]) {
    let folds = [schema.lowercase(), schema.nfkc(), schema.fold_marks()];
    (schema.shingling(), folds)
}
