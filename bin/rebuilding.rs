//! A rebuild that a person waits for.

use anyhow::{Result, bail};
use dedupdb::{Error, Store, upkeep::Rebuild};

use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::{CONTINUES, Interrupt};
use crate::number::bytes;
use crate::watch::{Unit, Watch};

/// What is done in each part of a rebuild.
const PARTS: [&str; 3] = ["signatures", "buckets", "documents"];

/// Does a rebuild with a progress bar, until it is done or the user stops it; says whether there was
/// anything to do, or that it was stopped.
pub(crate) fn run(
    store: &Store,
    rebuild: Rebuild<'_>,
    console: &Console,
) -> Result<Result<bool, Exit>> {
    make_way(store, &rebuild, console)?;
    check_space(store, &rebuild)?;
    let interrupt = Interrupt::catch()?;
    let watch = Watch::of_parts(console, PARTS, Unit::Step, store.progress());
    let done = store.rebuild(rebuild.watch(|_| interrupt.flow()));
    drop(watch);
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(Error::Interrupted) => {
            console.note(CONTINUES);
            Ok(Err(Exit::Interrupted))
        }
        Err(error) => Err(error.into()),
    }
}

/// Forgets a rebuild that was begun to another end, and says so: the store is open for writing here, so nobody
/// is at it.
fn make_way(store: &Store, rebuild: &Rebuild<'_>, console: &Console) -> Result<()> {
    if let Some(begun) = store.cancel_other_rebuild(rebuild)? {
        let what = begun.what(&store.schema());
        console.note(&format!(
            "discarded an unfinished rebuild ({what}), which this command cannot continue"
        ));
    }
    Ok(())
}

/// Refuses a rebuild that the disk has no room for.
fn check_space(store: &Store, rebuild: &Rebuild<'_>) -> Result<()> {
    let needed = store.rebuild_bytes(rebuild)?;
    // Where the system does not tell, the rebuild will.
    let free = fs4::available_space(store.folder()).unwrap_or(u64::MAX);
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
