//! A rebuild that a person waits for.

use anyhow::{Result, bail};
use dedupdb::{
    Error, Schema, Store,
    upkeep::{Progress, Rebuild, RebuildProgress},
};

use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::number::bytes;
use crate::watch::{Unit, Watch};

/// Units of the bar for all contents, and for all lists.
const WHOLE: u64 = 1000;

/// Does a rebuild with a progress bar, until it is done or the user stops it; says whether there was
/// anything to do, or that it was stopped.
pub(crate) fn run(
    store: &Store,
    rebuild: Rebuild<'_>,
    console: &Console,
) -> Result<Result<bool, Exit>> {
    check_space(store, &rebuild)?;
    let interrupt = Interrupt::catch()?;
    let progress = Progress::new();
    progress.begin(2 * WHOLE);
    let watch = Watch::told(console, what_is_done, Unit::Step, &progress);
    let rebuild = rebuild.watch(|report| {
        show(&progress, report);
        interrupt.flow()
    });
    let done = store.rebuild(rebuild);
    drop(watch);
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(error @ Error::Interrupted) => {
            console.note(&error.to_string());
            Ok(Err(Exit::Interrupted))
        }
        Err(error) => Err(error.into()),
    }
}

/// Forgets a rebuild that was begun to another end, and says so: the store's writer is here, so nobody is
/// at it.
pub(crate) fn make_way(
    store: &Store,
    target: &Schema,
    compacts: bool,
    console: &Console,
) -> Result<()> {
    let Some(begun) = store.unfinished_rebuild()? else {
        return Ok(());
    };
    if (&begun.schema, begun.compacts) != (target, compacts) {
        store.cancel_rebuild()?;
        let what = begun.what(&store.schema());
        console.note(&format!(
            "{what} was begun and not finished; it does not lead to what is asked for now, so it is \
             forgotten, and this begins anew"
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

/// Takes note of how far it is.
fn show(progress: &Progress, report: RebuildProgress) {
    let contents = share(report.contents, report.all_contents);
    let lists = share(report.lists.into(), report.all_lists.into());
    progress.reach(contents + lists);
}

/// What is done of it now.
fn what_is_done(progress: &Progress) -> &'static str {
    match progress.done() / WHOLE {
        0 => "signatures",
        1 => "buckets",
        _ => "documents",
    }
}

/// The part of the bar that so many of all take.
fn share(done: u64, all: u64) -> u64 {
    WHOLE * done / all.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_is_half_of_the_bar() {
        let progress = Progress::new();
        let done = |contents, lists| {
            progress.reach(share(contents, 100) + share(lists, 10));
            (progress.done(), what_is_done(&progress))
        };
        assert_eq!(done(50, 0), (500, "signatures"));
        assert_eq!(done(100, 5), (1500, "buckets"));
        assert_eq!(done(100, 10), (2000, "documents"));
        assert_eq!(share(0, 0), 0);
    }
}
