//! One of two texts that are compared: a stored document or a file.

use std::path::Path;

use anyhow::{Result, bail};
use dedupdb::corpus::{Format, Item, Key, Sourced};
use dedupdb::{Store, find::Subject};

use crate::args::Args;
use crate::inputs::{Inputs, STDIN, sources};
use crate::left_out::advice;

/// A text that is compared.
#[derive(Debug)]
pub(crate) struct Side {
    /// Its key, or the file's path.
    pub(crate) name: String,
    pub(crate) is_stored: bool,
    /// The text, or why it is not at hand.
    pub(crate) text: Result<String, String>,
}

impl Side {
    /// The stored document of the key `name`, or else the file of that name.
    pub(crate) fn find(
        name: &str,
        store: Option<&Store>,
        args: &Args,
        inputs: &Inputs,
    ) -> Result<Side> {
        let stored = match store {
            Some(store) => store.get(name)?,
            None => None,
        };
        let file = Path::new(name);
        if let Some(document) = stored {
            return Ok(Side {
                name: name.to_owned(),
                is_stored: true,
                text: stored_text(&document, args, inputs),
            });
        }
        if name != STDIN && !file.exists() {
            let also = match store {
                Some(_) => "no document of the store has this key, and there is no such file",
                None => "there is no such file, and no store that could have such a key",
            };
            bail!("{name}: {also}");
        }
        if file.is_dir() {
            bail!("{name}: it is a folder; name a file or the key of a document");
        }
        Ok(Side {
            name: name.to_owned(),
            is_stored: false,
            text: Ok(read(file, args, inputs)?.into_text()),
        })
    }

    /// What the library is asked about.
    pub(crate) fn subject(&self) -> Subject<'_> {
        match &self.text {
            Ok(text) if !self.is_stored => Subject::Text(text),
            _ => Subject::Key(&self.name),
        }
    }
}

/// The text of a stored document, from the file that its key names, or why it cannot be had.
fn stored_text(
    document: &dedupdb::Document,
    args: &Args,
    inputs: &Inputs,
) -> Result<String, String> {
    let file = Key::path(&document.key).filter(|file| {
        let format = inputs.format.unwrap_or_else(|| Format::of(file));
        file.is_file() && format.is_document()
    });
    let file = file.ok_or("its key names no file here")?;
    let read = read(&file, args, inputs).map_err(|error| error.to_string())?;
    if *blake3::hash(read.text().as_bytes()).as_bytes() == document.hash {
        Ok(read.into_text())
    } else {
        Err("its file has another text now, or is read in another way".to_owned())
    }
}

/// Reads a file that holds one document, or standard input.
fn read(file: &Path, args: &Args, inputs: &Inputs) -> Result<Sourced> {
    let options = inputs.options().store(&args.store);
    let sources = sources(&[file.to_owned()], None);
    let mut only = None;
    for batch in options.batches(sources)? {
        for item in batch?.items {
            match item {
                Item::Document(document) if only.is_none() => only = Some(document),
                Item::Skipped(skipped) => bail!("{}", skipped.told(advice)),
                Item::Document(_) | Item::Unchanged => bail!(
                    "{}: it holds several documents; add it and name one by its key",
                    file.display()
                ),
                _ => {}
            }
        }
    }
    match only {
        Some(document) => Ok(document),
        None => bail!("{}: it holds no document", file.display()),
    }
}
