//! `serve`: answers the requests of another program.

use std::io;
use std::time::{Duration, Instant};

use anyhow::Result;
use dedupdb::{Error, Schema, Store};

use crate::args::Args;
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt;
use crate::json::AnswerJson;
use crate::output::Output;
use crate::serve::{Request, RequestReader, answers};
use crate::store;

/// How long the answers to questions may not have what other processes committed.
const REFRESHED: Duration = Duration::from_secs(1);

/// Runs `serve`.
pub(crate) fn run(args: &Args, console: &Console, output: &mut Output) -> Result<Exit> {
    output.end_with_reader();
    let progress = interrupt::catch()?;
    let opened = store::open_or_create(
        args,
        store::options(args),
        &Schema::default(),
        &progress,
        console,
    )?;
    let Some(store) = opened else {
        return Ok(Exit::Interrupted);
    };
    let mut requests = RequestReader::begin(io::stdin())?;
    let mut refreshed = Instant::now();
    loop {
        let mut batch = match requests.next(&progress) {
            Ok(Some(batch)) => batch,
            Ok(None) => return Ok(Exit::Found),
            Err(error) if matches!(error.downcast_ref(), Some(Error::Stopped)) => {
                return Ok(Exit::Interrupted);
            }
            Err(error) => return Err(error),
        };
        if batch.iter().any(is_question) && refreshed.elapsed() > REFRESHED {
            refresh(&store)?;
            refreshed = Instant::now();
        }
        let answers = answers(&store, &mut batch);
        for (request, answer) in batch.iter().zip(&answers) {
            output.object(&AnswerJson::new(request, answer))?;
        }
        output.flush()?;
    }
}

fn is_question(request: &Request) -> bool {
    request.body.as_ref().is_ok_and(|body| !body.changes())
}

/// Takes over what other processes committed. If one of them keeps the right to write, that comes later.
fn refresh(store: &Store) -> Result<()> {
    match store.refresh() {
        Ok(_) | Err(Error::Locked { .. } | Error::Blocked { .. } | Error::Stopped) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
