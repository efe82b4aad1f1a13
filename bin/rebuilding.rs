//! A rebuild that a person waits for.

use std::time::Instant;

use anyhow::{Result, bail};
use dedupdb::{
    Error, Schema, Store,
    upkeep::{Rebuild, RebuildProgress, Unfinished},
};
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::number::bytes;
use crate::progress::{PATIENCE, style};

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
        let what = what(&begun, &store.schema());
        console.note(&format!(
            "{what} was begun and not finished; it does not lead to what is asked for now, so it is \
             forgotten, and this begins anew"
        ));
    }
    Ok(())
}

/// What a rebuild that was begun is to do to a store with the parameters `stored`.
pub(crate) fn what(begun: &Unfinished, stored: &Schema) -> String {
    if begun.compacts {
        return "compact".to_owned();
    }
    let changed = begun
        .schema
        .parameters()
        .into_iter()
        .zip(stored.parameters());
    let changed = changed.filter(|(new, old)| new != old);
    let changed = changed.map(|((name, value), _)| format!("{name} {value}"));
    format!("reindex to {}", changed.collect::<Vec<_>>().join(", "))
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
    target: Box<dyn Fn() -> ProgressDrawTarget>,
}

impl Bar<'_> {
    fn new(console: &Console) -> Bar<'_> {
        Bar {
            drawn: console.bar(),
            is_wanted: !console.is_quiet(),
            started: Instant::now(),
            target: Box::new(ProgressDrawTarget::stderr),
        }
    }

    fn show(&self, progress: RebuildProgress) {
        if !self.is_wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let contents = share(progress.contents, progress.all_contents);
        let lists = share(progress.lists.into(), progress.all_lists.into());
        self.draw(contents, lists);
    }

    /// Draws these shares of the contents and of the lists.
    fn draw(&self, contents: u64, lists: u64) {
        self.drawn.set_length(2 * WHOLE);
        self.drawn.set_position(contents + lists);
        self.drawn.set_message(if contents < WHOLE {
            "signatures"
        } else if lists < WHOLE {
            "buckets"
        } else {
            "documents"
        });
        if self.drawn.is_hidden() {
            self.drawn
                .set_style(style("{bar:24} {percent:>3}%  {msg}  {eta} left"));
            // Last: what is shown first stays for as long as nothing else is reported. Only on a
            // terminal does it show anything.
            self.drawn.set_draw_target((self.target)());
        }
        self.drawn.force_draw();
    }
}

/// The part of the bar that so many of all take.
fn share(done: u64, all: u64) -> u64 {
    WHOLE * done / all.max(1)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that remembers what was written to it.
    #[derive(Clone, Debug, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, line: &str) -> io::Result<()> {
            self.write_str(line)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What the bar shows after the reports of a rebuild.
    fn shown(reports: &[(u64, u32)]) -> String {
        let paper = Paper::default();
        let drawn = ProgressBar::hidden();
        let bar = Bar {
            drawn: &drawn,
            is_wanted: true,
            started: Instant::now().checked_sub(PATIENCE).unwrap(),
            target: Box::new({
                let paper = paper.clone();
                move || ProgressDrawTarget::term_like_with_hz(Box::new(paper.clone()), 1)
            }),
        };
        for &(contents, lists) in reports {
            bar.draw(share(contents, 100), share(lists.into(), 10));
        }
        paper.0.lock().unwrap().clone()
    }

    #[test]
    fn the_first_report_is_shown_as_it_is() {
        let shown = shown(&[(100, 10)]);
        assert!(shown.contains("100%  documents"), "{shown:?}");
    }

    #[test]
    fn the_last_report_is_shown_however_fast_it_comes() {
        let shown = shown(&[(50, 0), (100, 0), (100, 5)]);
        assert!(shown.contains("75%  buckets"), "{shown:?}");
    }
}
