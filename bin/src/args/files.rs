//! Arguments of the commands that read any number of files.

use crate::file_list::FileListArgs;
use crate::inputs::InputArgs;
use crate::left_out::LeftOutArgs;

/// How files are read, more of them, and what is said of those that are left out.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FilesArgs {
    #[command(flatten)]
    pub(crate) inputs: InputArgs,

    #[command(flatten)]
    pub(crate) listed: FileListArgs,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}
