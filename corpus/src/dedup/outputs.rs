//! Everything that a run writes, from creation to publication.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::dedup::error::Result;
use crate::dedup::settings::Dedup;
use crate::dedup::target::OutputTarget;
use crate::publish;
use crate::publish::apart::bare;
use crate::publish::error::WithPath;
use crate::publish::existing_output::ExistingOutput;
use crate::publish::hash_of;
use crate::publish::work::WorkFolder;

/// The output and the list of dropped documents.
#[derive(Debug)]
pub(crate) struct Outputs {
    work: WorkFolder,
    /// The place of the output, if it has one.
    place: Option<PathBuf>,
    /// What exists there.
    existing: Option<ExistingOutput>,
    removed: Option<Listing>,
}

/// The list of dropped documents.
#[derive(Debug)]
struct Listing {
    work: WorkFolder,
    existing: ExistingOutput,
}

impl Outputs {
    /// Creates the folders in which the outputs are built.
    ///
    /// # Errors
    ///
    /// Those of the system; another process writes the same output; the existing output must not be replaced.
    pub(crate) fn begin(dedup: &Dedup, target: &OutputTarget) -> Result<Outputs> {
        let store = dedup.store_folder.as_deref();
        let stores = store.as_slice();
        let work = match &target.path {
            Some(path) => WorkFolder::beside(path, stores)?,
            None => WorkFolder::temporary()?,
        };
        // A run that was killed may have published the output and closed itself in the store.
        work.keep_trace(store.is_some());
        let listing = |path: &PathBuf| -> Result<Listing> {
            let listing = WorkFolder::beside(path, stores)?;
            // The list is published first, so a run that was killed right after that may have left it there.
            let is_ours = work.note().is_some_and(|note| is_noted(path, note));
            let standing = ExistingOutput::at(path, dedup.replace || is_ours)?;
            if standing.is_folder() {
                return Err(publish::Error::foreign(path, "this is a folder; name a file").into());
            }
            Ok(Listing {
                work: listing,
                existing: standing,
            })
        };
        let removed = dedup.removed.as_deref().map(bare);
        let removed = removed.as_ref().map(listing).transpose()?;
        let standing = |path: &PathBuf| ExistingOutput::at(path, dedup.replace);
        Ok(Outputs {
            existing: target.path.as_ref().map(standing).transpose()?,
            place: target.path.clone(),
            work,
            removed,
        })
    }

    /// Returns the folder for temporary data.
    pub(crate) fn work(&self) -> &WorkFolder {
        &self.work
    }

    /// Returns the path at which the list of dropped documents is built, if there is one.
    pub(crate) fn removed(&self) -> Option<PathBuf> {
        self.removed.as_ref().map(|listing| listing.work.output())
    }

    /// Whether publishing the output would replace content.
    pub(crate) fn replaces_content(&self) -> bool {
        let existing = self.place.as_ref().zip(self.existing.as_ref());
        existing.is_some_and(|(place, existing)| existing.has_content(place))
    }

    /// Publishes the complete and durable outputs, the list first. Returns the new name of a folder that the output
    /// replaced, or of a file if a run was killed that may have written it and `lacks` says that the output does not have
    /// all that it would have had.
    ///
    /// # Errors
    ///
    /// Those of the system. Each place then has its old or its new content.
    pub(crate) fn publish(&self, lacks: bool) -> Result<Option<PathBuf>> {
        self.publish_list()?;
        match &self.existing {
            Some(standing) => {
                let keeps = lacks && self.work.is_left_over();
                Ok(self.work.publish(standing, keeps)?)
            }
            None => Ok(None),
        }
    }

    /// Leaves the existing output in its place.
    pub(crate) fn leave(&self) {
        self.work.keep_trace(false);
    }

    /// Publishes the list alone, if there is one.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn publish_list(&self) -> Result<()> {
        if let Some(Listing {
            work,
            existing: standing,
        }) = &self.removed
        {
            let path = work.output();
            let hash = hash(&path).of(&path)?;
            self.work.set_note(&hash)?;
            work.publish(standing, false)?;
        }
        Ok(())
    }
}

/// Whether the file is the one whose hash a run noted.
fn is_noted(path: &Path, note: &str) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
        && hash(path).is_ok_and(|hash| hash == note)
}

fn hash(path: &Path) -> io::Result<String> {
    Ok(hash_of(path)?.finalize().to_hex().to_string())
}
