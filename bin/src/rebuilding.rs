//! A rebuild that the user waits for.

use anyhow::{Result, bail};
use dedupdb::{Error, Store, upkeep::Rebuild};

use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::{self, CONTINUES};
use crate::number::bytes;
use crate::watch::{ProgressWatch, StepUnit};

/// What each part of a rebuild works on.
const PARTS: [&str; 3] = ["signatures", "buckets", "documents"];

/// Runs a rebuild with a progress bar, until it is done or the user stops it.
///
/// Returns whether there was anything to do, or that the user stopped it.
pub(crate) fn run(
    store: &Store,
    rebuild: Rebuild<'_>,
    console: &Console,
) -> Result<Result<bool, Exit>> {
    make_way(store, &rebuild, console)?;
    check_space(store, &rebuild)?;
    let progress = interrupt::catch()?;
    let watch = ProgressWatch::of_parts(console, PARTS, StepUnit::Step, &progress);
    let done = store.watched(&progress).rebuild(rebuild);
    drop(watch);
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(Error::Stopped) => {
            console.note(CONTINUES);
            Ok(Err(Exit::Interrupted))
        }
        Err(error) => Err(error.into()),
    }
}

/// Discards an unfinished rebuild with another target, and reports that. One that another process
/// is working on is an error.
pub(crate) fn make_way(store: &Store, rebuild: &Rebuild<'_>, console: &Console) -> Result<()> {
    if let Some(begun) = store.cancel_other_rebuild(rebuild)? {
        let what = begun.what(&store.schema());
        console.note(&format!(
            "discarded an unfinished rebuild ({what}), which this command cannot continue"
        ));
    }
    Ok(())
}

/// Refuses a rebuild for which the disk has no room.
fn check_space(store: &Store, rebuild: &Rebuild<'_>) -> Result<()> {
    let needed = store.rebuild_bytes(rebuild)?;
    // Some file systems report no size at all. Then the rebuild itself may fail.
    let known = fs4::statvfs(store.folder()).ok();
    let free = known.filter(|known| known.total_space() > 0);
    let free = free.map_or(u64::MAX, |known| known.available_space());
    if needed > free {
        bail!(
            "{}: about {} are needed beside the store while it is rebuilt, and {} are free",
            store.folder().display(),
            bytes(needed),
            bytes(free)
        );
    }
    Ok(())
}
