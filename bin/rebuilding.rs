//! A rebuild that a person waits for.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use dedupdb::{Error, Rebuild, RebuildProgress, Store};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::number::bytes;

/// What is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

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
    let bar = Bar::new(console);
    let rebuild = rebuild.watch(|progress| {
        bar.show(progress);
        interrupt.flow()
    });
    let done = store.rebuild(rebuild);
    bar.drawn.finish_and_clear();
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(error @ Error::Interrupted) => {
            console.note(&error.to_string());
            Ok(Err(Exit::Interrupted))
        }
        Err(error) => Err(error.into()),
    }
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

/// How far it is, shown on a terminal once it takes a while.
struct Bar<'a> {
    drawn: &'a ProgressBar,
    is_wanted: bool,
    started: Instant,
}

impl Bar<'_> {
    fn new(console: &Console) -> Bar<'_> {
        Bar {
            drawn: console.bar(),
            is_wanted: !console.is_quiet(),
            started: Instant::now(),
        }
    }

    fn show(&self, progress: RebuildProgress) {
        if !self.is_wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        if self.drawn.is_hidden() {
            let style = ProgressStyle::with_template("{bar:24} {percent:>3}%  {msg}  {eta} left");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            self.drawn.set_style(style);
            // Only on a terminal does it show anything.
            self.drawn.set_draw_target(ProgressDrawTarget::stderr());
        }
        let share = |done: u64, all: u64| WHOLE * done / all.max(1);
        let contents = share(progress.contents, progress.all_contents);
        let lists = share(progress.lists.into(), progress.all_lists.into());
        self.drawn.set_length(2 * WHOLE);
        self.drawn.set_position(contents + lists);
        self.drawn.set_message(if contents < WHOLE {
            "signatures"
        } else if lists < WHOLE {
            "buckets"
        } else {
            "documents"
        });
    }
}
