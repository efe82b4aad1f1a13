//! How files are read: the options that the commands share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use dedupdb::write::IdScope;
use dedupdb_corpus::publish::check_output;
use dedupdb_corpus::{
    Converter, Encoding, Format, Glob, Options, Repeats, Source, is_pipe, is_same_file,
};

use dedupdb::{Schema, sketching::Shingling};

use crate::console::Console;
use crate::{closed_input, duration, parse};

/// The argument that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// The sources for the arguments `paths`; see [`source`].
pub(crate) fn sources(paths: &[PathBuf], key: Option<&str>) -> Vec<Source> {
    paths.iter().map(|path| source(path, key)).collect()
}

/// The source for the argument `path`.
///
/// A text on standard input, or in a pipe without a name, gets the key `key`.
pub(crate) fn source(path: &Path, key: Option<&str>) -> Source {
    if path == Path::new(STDIN) {
        return Source::stream("standard input", closed_input::stdin()).key(key.unwrap_or(STDIN));
    }
    let source = Source::path(path);
    match key {
        Some(key) if is_nameless(path) => source.key(key),
        _ => source,
    }
}

/// Refuses standard input that is named twice, because it can be read only once.
pub(crate) fn check_stdin<'a>(arguments: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let named = arguments
        .into_iter()
        .filter(|path| *path == Path::new(STDIN));
    if named.count() > 1 {
        bail!("standard input (-) is named more than once");
    }
    Ok(())
}

/// Whether `paths` name standard input (-), and it reads this file.
pub(crate) fn is_stdin(file: &Path, paths: &[PathBuf]) -> bool {
    const OPEN: &str = "/dev/stdin";
    paths.iter().any(|path| path == Path::new(STDIN)) && is_same_file(file, Path::new(OPEN))
}

/// Refuses to write over files that are read besides the inputs, such as lists of names.
pub(crate) fn check_not_read<'p>(
    outputs: &[&Path],
    read: impl Iterator<Item = &'p PathBuf>,
) -> Result<()> {
    let files: Vec<PathBuf> = read.cloned().collect();
    for output in outputs {
        check_output(output, &files)?;
    }
    Ok(())
}

/// Refuses to write over the file that standard input reads.
pub(crate) fn check_stdin_outputs(outputs: &[&Path], paths: &[PathBuf]) -> Result<()> {
    match outputs.iter().find(|output| is_stdin(output, paths)) {
        Some(output) => bail!(
            "{}: standard input (-) is this file; write to another place",
            output.display()
        ),
        None => Ok(()),
    }
}

/// Whether an argument has no name that distinguishes its text from others: standard input, or what a shell puts in
/// place of `<(...)`.
pub(crate) fn is_nameless(argument: &Path) -> bool {
    let shells = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    let is_descriptor = argument.parent().is_some_and(|at| shells.contains(&at));
    argument == Path::new(STDIN) || is_descriptor && is_pipe(argument)
}

/// Which files below folders are read.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Inputs")]
pub(crate) struct FileNameArgs {
    /// In folders, read only files whose names match GLOB, as in .gitignore: '*.md', 'notes/**'; may be
    /// repeated
    #[arg(long, value_name = "GLOB", value_parser = parse::glob)]
    pub(crate) include: Vec<Glob>,

    /// In folders, leave out files and folders whose names match GLOB, and count them; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = parse::glob)]
    pub(crate) exclude: Vec<Glob>,

    /// In folders, leave out what their .gitignore files exclude
    #[arg(long)]
    pub(crate) gitignore: bool,
}

impl FileNameArgs {
    /// Refuses globs that exclude all of `paths`, before any output is made.
    pub(crate) fn check(&self, options: &Options, paths: &[PathBuf]) -> Result<()> {
        let has_globs = !self.include.is_empty() || !self.exclude.is_empty();
        if paths.is_empty() || !has_globs || options.leaves_any(sources(paths, None)) {
            return Ok(());
        }
        let named = |option, globs: &[Glob]| {
            let globs = globs.iter().map(|glob| format!("--{option} {glob}"));
            globs.collect::<Vec<_>>().join(" ")
        };
        let (include, exclude) = (
            named("include", &self.include),
            named("exclude", &self.exclude),
        );
        let paths = paths.iter().map(|path| path.display().to_string());
        let paths = paths.collect::<Vec<_>>().join(", ");
        match (include.is_empty(), exclude.is_empty()) {
            (false, true) => bail!("{paths}: no file matches {include}"),
            (true, _) => bail!("{paths}: {exclude} leaves no file"),
            (false, false) => bail!("{paths}: no file matches {include} and is left by {exclude}"),
        }
    }

    /// Returns the options with this choice.
    pub(crate) fn choose(&self, options: Options) -> Options {
        let options = options.gitignore(self.gitignore);
        let options = self.include.iter().cloned().fold(options, Options::include);
        self.exclude.iter().cloned().fold(options, Options::exclude)
    }
}

/// How files are read.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Inputs")]
pub(crate) struct InputArgs {
    /// Format of all inputs, instead of the one that each name implies
    #[arg(long, value_name = "FORMAT", value_parser = parse::format())]
    pub(crate) format: Option<Format>,

    /// Field or column with the text, such as body, page.body or messages[].content; may be repeated
    /// [default: text]
    #[arg(long, value_name = "NAME", value_parser = parse::text_field)]
    pub(crate) text_field: Vec<String>,

    /// Field or column with the key; a record without one has the key PATH#NUMBER [default: id]
    #[arg(long, value_name = "NAME", value_parser = parse::field)]
    pub(crate) id_field: Option<String>,

    /// Where ids are unique; a store remembers it. With all, a later text replaces an earlier one; with file,
    /// keys are PATH#ID
    #[arg(long, value_name = "WHERE", value_parser = parse::id_scope())]
    pub(crate) id_scope: Option<IdScope>,

    /// Leave out lines of mail that begin with `>`, which quote an earlier message
    #[arg(long)]
    pub(crate) no_quoted: bool,

    /// Encoding of all texts, such as windows-1252 or gbk, instead of detecting it
    #[arg(long, value_name = "NAME", value_parser = parse::encoding)]
    pub(crate) encoding: Option<Encoding>,

    /// Leave out and count larger texts, and lines or rows with all their fields: 500kB
    #[arg(long, value_name = "SIZE", value_parser = parse::size, default_value = "64MiB")]
    pub(crate) max_document: u64,

    /// Stop at the first file or record that cannot be read
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) names: FileNameArgs,

    /// Read each file through a program without arguments, such as ./pdf.sh: what `COMMAND PATH` prints is
    /// the document
    #[arg(long, value_name = "COMMAND", value_parser = parse::program)]
    pub(crate) pre: Option<PathBuf>,

    /// Use COMMAND only for files whose names match GLOB, in capital or small letters; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = parse::glob, requires = "pre")]
    pub(crate) pre_glob: Vec<Glob>,

    /// Time limit of COMMAND for each file
    #[arg(long, value_name = "TIME", value_parser = duration::wait, requires = "pre", default_value = "60s")]
    pub(crate) pre_time: Duration,

    /// Follow symbolic links in folders; each file is read once
    #[arg(long)]
    pub(crate) follow: bool,
}

impl InputArgs {
    /// Refuses globs that exclude all of `paths`, before any output is made. Reports if none of the files is for the
    /// program that converts files to text.
    pub(crate) fn check(
        &self,
        options: &Options,
        paths: &[PathBuf],
        console: &Console,
    ) -> Result<()> {
        self.names.check(options, paths)?;
        let (Some(program), false) = (&self.pre, paths.is_empty()) else {
            return Ok(());
        };
        for glob in &self.pre_glob {
            let only = Converter::new(program).only(glob.clone());
            let options = options.clone().converter(only);
            if !options.converts_any(sources(paths, None)) {
                console.note(&format!("no file matches --pre-glob {glob}"));
            }
        }
        Ok(())
    }

    /// Refuses integers that are shingles for a store of texts.
    pub(crate) fn check_shingles(&self, schema: &Schema) -> Result<()> {
        if self.format == Some(Format::Shingles) && schema.shingling() != Shingling::Ids {
            bail!(
                "--format shingles has integers, not texts; they need --shingling ids, in a store that `dedupdb init` \
                 made with it or in a command without a store"
            );
        }
        Ok(())
    }

    /// How a corpus is read. Repeated ids are not looked for.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new()
            .id_scope(self.id_scope.unwrap_or_default())
            .max_document(self.max_document)
            .strict(self.strict)
            .follow(self.follow)
            .repeats(Repeats::Allow);
        options = self.names.choose(options);
        if let Some(program) = &self.pre {
            let converter = Converter::new(program).time_limit(self.pre_time);
            let globs = self.pre_glob.iter().cloned();
            options = options.converter(globs.fold(converter, Converter::only));
        }
        if let Some(format) = self.format {
            options = options.format(format);
        }
        options = options.text_fields(&self.text_field);
        if let Some(name) = &self.id_field {
            options = options.id_field(name);
        }
        if let Some(encoding) = self.encoding {
            options = options.encoding(encoding);
        }
        options.quoted(!self.no_quoted)
    }

    /// Whether standard input or a pipe is one document, not a file of records.
    pub(crate) fn is_one_document(&self, path: &Path) -> bool {
        let format = self.format.unwrap_or_else(|| Format::of(path));
        format.is_document()
    }
}
