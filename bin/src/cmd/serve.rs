//! `serve`: answers the requests of another program.

use std::io;

use anyhow::Result;
use dedupdb::{Error, Schema};

use crate::args::Args;
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt;
use crate::json::AnswerJson;
use crate::output::Output;
use crate::serve::{RequestReader, Session};
use crate::store;

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
    let mut session = Session::new(store);
    let mut is_cut_short = false;
    let exit = loop {
        let mut batch = match requests.next(&progress) {
            Ok(Some(batch)) => batch,
            Ok(None) => break Exit::Found,
            Err(error) if matches!(error.downcast_ref(), Some(Error::Stopped)) => {
                break Exit::Interrupted;
            }
            Err(error) => return Err(error),
        };
        let answers = session.answers(&mut batch);
        for (request, answer) in batch.iter().zip(&answers) {
            output.object(&AnswerJson::new(request, answer))?;
        }
        output.flush()?;
        if !is_cut_short && session.searches_cut_short() > 0 {
            is_cut_short = true;
            store::note_cut_short(session.searches_cut_short(), args, console);
        }
    };
    if is_cut_short {
        store::note_cut_short(session.searches_cut_short(), args, console);
    }
    Ok(exit)
}
