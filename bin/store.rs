//! Opening the store that the arguments name.

use anyhow::Result;
use dedupdb::{Error, Options, Report, Schema, Store};

use crate::args::Args;
use crate::console::Console;

/// Opens the store for reading, beside other readers.
pub(crate) fn open_to_read(args: &Args) -> Result<Store> {
    Ok(options(args).read_only(true).open(&args.store)?)
}

/// Opens the store for writing.
pub(crate) fn open_to_write(args: &Args) -> Result<Store> {
    Ok(options(args).open(&args.store)?)
}

/// Makes a store.
pub(crate) fn create(args: &Args, schema: &Schema) -> Result<Store> {
    Ok(options(args).create(&args.store, schema)?)
}

/// Opens the store for writing, or makes one with the default parameters.
pub(crate) fn open_or_create(args: &Args, console: &Console) -> Result<Store> {
    match options(args).open(&args.store) {
        Err(Error::NotAStore { .. }) => {
            let store = create(args, &Schema::default())?;
            console.note(&format!("made a store in {}", args.store.display()));
            Ok(store)
        }
        opened => Ok(opened?),
    }
}

/// Checks the store.
pub(crate) fn check(args: &Args) -> Result<Report> {
    Ok(options(args).check(&args.store)?)
}

fn options(args: &Args) -> Options {
    Options::new().threads(args.threads)
}
