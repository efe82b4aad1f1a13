//! One of two texts to compare: a stored document or a file.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use dedupdb::Store;
use dedupdb::find::Subject;
use dedupdb_corpus::SourcedText;

use crate::args::Args;
use crate::inputs::{InputArgs, STDIN, source};
use crate::left_out::advice;
use crate::parse;

/// Why the text of a document without a file is not shown, and what shows it.
const NO_FILE: &str =
    "it is a record, or came from standard input; name the file that has it with --texts-from";

/// A text to compare.
#[derive(Debug)]
pub(crate) struct TextSide {
    /// The document's key, or the file's path.
    pub(crate) name: String,
    pub(crate) is_stored: bool,
    /// The file, if it is one document.
    pub(crate) file: Option<PathBuf>,
    /// The hash that stands for its text.
    hash: [u8; 32],
    /// The text, or why it is not available.
    pub(crate) text: Result<String, String>,
}

impl TextSide {
    /// The stored document with the key `name`, or else the file of that name. An error ends with `hint`.
    pub(crate) fn find(
        name: &str,
        hint: &str,
        store: Option<&Store>,
        args: &Args,
        inputs: &InputArgs,
    ) -> Result<TextSide> {
        let stored = match store {
            Some(store) => store.get(name)?,
            None => None,
        };
        let file = &*parse::file(name);
        if let Some(document) = stored {
            let text = inputs.options().store(&args.store).text_of(&document);
            let has_file = document.modified.is_some();
            return Ok(TextSide {
                name: name.to_owned(),
                is_stored: true,
                file: has_file.then(|| file.to_owned()),
                hash: document.hash,
                text: text.map_err(|skipped| {
                    if has_file {
                        skipped.detail
                    } else {
                        NO_FILE.to_owned()
                    }
                }),
            });
        }
        if name != STDIN && !file.exists() {
            let also = match store {
                Some(_) => "no document of the store has this key, and there is no such file",
                None => "there is no such file, and no store that could have such a key",
            };
            bail!("{name}: {also}{hint}");
        }
        if file.is_dir() {
            bail!("{name}: it is a folder; name a file or the key of a document");
        }
        let document = document_of_file(file, args, inputs)?;
        Ok(TextSide {
            name: name.to_owned(),
            is_stored: false,
            file: Some(file.to_owned()),
            hash: document.hash(),
            text: Ok(document.into_text()),
        })
    }

    /// Takes this text if it is the missing one, whatever its key.
    pub(crate) fn offer(&mut self, text: &str, hash: [u8; 32]) {
        if self.text.is_err() && self.hash == hash {
            self.text = Ok(text.to_owned());
        }
    }

    /// The subject for a call of the library.
    pub(crate) fn subject(&self) -> Subject<'_> {
        match &self.text {
            Ok(text) if !self.is_stored => Subject::Hashed {
                text,
                hash: self.hash,
            },
            _ => Subject::Key(&self.name),
        }
    }
}

/// Reads the document of a file, or of standard input.
pub(crate) fn document_of_file(
    file: &Path,
    args: &Args,
    inputs: &InputArgs,
) -> Result<SourcedText> {
    let options = inputs.options().store(&args.store);
    let read = options.document(source(file, None));
    read.map_err(|skipped| anyhow!("{}", skipped.told(advice)))
}
