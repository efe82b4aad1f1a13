//! Arguments of `serve`.

/// Answer another program, line by line
///
/// A program in any language starts this one, writes requests to its standard input and reads the
/// answers from its standard output. Each is a JSON object on a line; the answers come in the order
/// of the requests.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  echo '{\"op\": \"insert\", \"key\": \"a\", \"text\": \"Some text\"}' | dedupdb serve

Requests:
  {\"op\": \"insert\", \"key\": KEY, \"text\": TEXT}   store it unless it is a near-duplicate
  {\"op\": \"replace\", \"key\": KEY, \"text\": TEXT}  store it in any case
  {\"op\": \"query\", \"text\": TEXT}                which documents resemble it? (or \"key\": KEY)
  {\"op\": \"passages\", \"text\": TEXT}             what does it share with them, word for word?
  {\"op\": \"remove\", \"key\": KEY}, {\"op\": \"touch\", \"key\": KEY}
  {\"op\": \"rename\", \"key\": KEY, \"to\": KEY}
  {\"op\": \"commit\"}                             answered when all that came before is durable

`query` also takes \"threshold\", \"containment\", \"nearest\", \"exhaustive\" and \"limit\"; `passages`
takes \"at_least\" and \"limit\". An \"id\" of any request comes back in its answer.

A change is durable before it is answered, so a program that is killed has lost nothing that was
answered. Requests that arrive together share a commit: for speed, write many before you read their
answers, but read while you write. A request that fails is answered with an error, and the next ones
go on. Several of these processes, and all other commands, may use one store; they write by turns.

Exit codes: 0 the input ended, 2 error, 75 another process is writing to the store, 130 interrupted.")]
pub(crate) struct ServeArgs {
    /// Take requests from standard input, the default
    #[arg(long)]
    pub(crate) stdin: bool,
}
