//! Rebuilding a store while it is in use, to change parameters or to free space.

use std::fmt;
use std::sync::Arc;

use super::fingerprints::TextFingerprints;
use super::rebuild_progress::{RebuildProgress, RebuildSteps, Unfinished};
use super::resign::{BodySource, Resigner};
use crate::clock::Patience;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::{
    GenerationProgress, NextGeneration, RebuildPlan, RowMaker, Snapshot, StoreFiles,
};
use crate::store::compare::{PublishedCommit, StoreSketcher};
use crate::store::handle::Store;
use crate::store::offer::Body;

/// Rounds of catching up with writers. A writer that is faster waits for the last round.
const ROUNDS: usize = 8;

const DEFAULT_MEMORY: u64 = 512 << 20;

/// The task of [`Store::rebuild`].
///
/// ```
/// use dedupdb::{Schema, upkeep::Rebuild};
///
/// let schema = Schema::builder().permutations(256).build()?;
/// let rebuild = Rebuild::reindex(schema).memory(256 << 20);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[must_use = "nothing changes before the rebuild"]
pub struct Rebuild<'a> {
    target: RebuildTarget,
    memory: u64,
    dropped: Option<Box<DroppedKeys<'a>>>,
    source: Option<Box<BodySource<'a>>>,
    texts: Option<TextFingerprints>,
}

/// Learns the keys of the documents that were removed.
type DroppedKeys<'a> = dyn Fn(&[String]) + Send + Sync + 'a;

#[derive(Clone, Debug)]
enum RebuildTarget {
    Reindex(Box<Schema>),
    Compact,
    Pack,
    Resume,
}

impl fmt::Debug for Rebuild<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rebuild")
            .field("target", &self.target)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

impl<'a> Rebuild<'a> {
    /// Gives the store other permutations, bands, seed, slots or threshold.
    ///
    /// The store gets the bands of `schema`. A schema that is built from the store's own keeps its bands, unless
    /// [`SchemaBuilder::choose_bands`](crate::sketching::SchemaBuilder::choose_bands) asks for others.
    /// [`Reindex`](crate::upkeep::Reindex) takes only the parameters that change and chooses bands if necessary.
    pub fn reindex(schema: Schema) -> Rebuild<'a> {
        Rebuild::new(RebuildTarget::Reindex(Box::new(schema)))
    }

    /// Frees the space of removed contents, and space that the index no longer needs. There is nothing to do if no
    /// content was removed and the index was written as a whole.
    pub fn compact() -> Rebuild<'a> {
        Rebuild::new(RebuildTarget::Compact)
    }

    /// Finishes an unfinished rebuild, whatever its target.
    pub fn resume() -> Rebuild<'a> {
        Rebuild::new(RebuildTarget::Resume)
    }

    /// Rewrites the index and changes nothing else.
    pub(super) fn pack() -> Rebuild<'a> {
        Rebuild::new(RebuildTarget::Pack)
    }

    fn new(target: RebuildTarget) -> Rebuild<'a> {
        Rebuild {
            target,
            memory: DEFAULT_MEMORY,
            dropped: None,
            source: None,
            texts: None,
        }
    }

    /// Sets how many bytes of memory postings may take while they are sorted, 512 MiB by default.
    pub fn memory(mut self, bytes: u64) -> Rebuild<'a> {
        self.memory = bytes;
        self
    }

    /// Sets a function that returns the text of a key. It is needed if slots are computed and the store keeps no
    /// shingles. A text is used only if it is the one that was stored. For a document that was stored as
    /// [shingles](crate::write::Body), the function returns these.
    pub fn source<B: Into<Body>>(
        mut self,
        source: impl Fn(&str) -> Option<B> + Send + Sync + 'a,
    ) -> Rebuild<'a> {
        self.source = Some(Box::new(move |key| source(key).map(Into::into)));
        self
    }

    /// Sets the fingerprints of texts that are at hand: for a schema with another
    /// [`passage`](crate::Schema::passage), unless its step is a multiple of the old one, or for contents that have
    /// [none](crate::upkeep::Stats::unfingerprinted). Other contents that have none get none, and are counted there, and so
    /// are those that are added meanwhile. If documents would lose theirs, the rebuild fails.
    pub fn fingerprints(mut self, texts: TextFingerprints) -> Rebuild<'a> {
        self.texts = Some(texts);
        self
    }

    /// Sets that documents whose text is needed but unavailable are removed, which is an error otherwise. `dropped` is
    /// then called with their keys, in order.
    pub fn drop_missing(mut self, dropped: impl Fn(&[String]) + Send + Sync + 'a) -> Rebuild<'a> {
        self.dropped = Some(Box::new(dropped));
        self
    }
}

impl Store {
    /// Makes the next generation of the store beside the one in use, and switches to it.
    ///
    /// Queries and writers continue in the meantime, and the next generation includes their commits. At the end, the
    /// rebuild takes the writer for a moment. It waits for that without a limit. Returns whether there was anything to do.
    ///
    /// The [progress](Store::watched) has three parts: contents, lists of buckets, and the rest as one step. If it is
    /// stopped, the work so far is kept, and the next rebuild continues from there.
    ///
    /// Shorter signatures are cut from the old ones; for longer ones, only the new slots are computed. If only bands
    /// change, signatures are not written. Everything is computed from the stored shingles; a store without shingles
    /// needs the texts: [`Rebuild::source`].
    ///
    /// It is safe to end the process at any time. The next rebuild with the same target, or [`Rebuild::resume`],
    /// continues from there.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, upkeep::Rebuild};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// # store.insert_unless_duplicate("one", "a text")?;
    /// let schema = Schema::builder().permutations(256).threshold(0.7).build()?;
    /// assert!(store.rebuild(Rebuild::reindex(schema.clone()))?);
    /// assert_eq!(*store.schema(), schema);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] for a change that needs other shingles, for one to
    /// [`Family::Xor`](crate::sketching::Family::Xor), or for another passage without the texts, [`Error::Unfinished`] if an unfinished rebuild has another
    /// target, [`Error::Rebuilding`], [`Error::MissingSources`], [`Error::Stopped`], [`Error::ReadOnly`], [`Error::WriterHeld`] if this
    /// thread holds the [`Writer`](crate::Writer) or is within a rebuild, [`Error::Moved`], or those of reading and
    /// writing the store. After an error the store is unchanged, except that documents which
    /// [`Rebuild::drop_missing`] removes may be removed already.
    #[expect(clippy::needless_pass_by_value, reason = "a task is done once")]
    pub fn rebuild(&self, rebuild: Rebuild<'_>) -> Result<bool> {
        self.after_other_rebuilds(|| self.rebuild_alone(&rebuild))
    }

    /// Does what no process can while another one rebuilds the store, and waits for that as long as for the right to write.
    fn after_other_rebuilds<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        let mut patience = Patience::new(self.shared.wait.time);
        loop {
            match work() {
                // A commit of the other rebuild may take long.
                Err(Error::Rebuilding { .. } | Error::Blocked { .. }) if patience.pause() => {
                    self.progress.go_on()?;
                    self.catch_up()?;
                }
                Err(error @ (Error::Rebuilding { .. } | Error::Blocked { .. })) => {
                    return Err(self.rebuilt_elsewhere(error));
                }
                done => return done,
            }
        }
    }

    /// The error of a call for which another process rebuilds the store, with that process.
    fn rebuilt_elsewhere(&self, error: Error) -> Error {
        match NextGeneration::maker(&self.shared.place) {
            Ok((true, process)) => Error::Rebuilding {
                path: self.shared.place.clone(),
                process,
            },
            _ => error,
        }
    }

    /// Rebuilds the store unless another process does.
    pub(super) fn rebuild_alone(&self, rebuild: &Rebuild<'_>) -> Result<bool> {
        let slot = self.slot()?;
        slot.check_not_held_here()?;
        // Of this process, one rebuild at a time. Other processes are kept out by the lock on the next index.
        let _alone = self.shared.rebuilding.enter()?;
        let snapshot = self.last_in_place()?;
        let Some(plan) = plan(rebuild, &snapshot)? else {
            return Ok(false);
        };
        plan.schema.check_for_store()?;
        let needs_texts = needs_texts(&snapshot, &plan, rebuild)?;
        let source = rebuild.source.as_deref();
        let signer = Resigner::new(
            &self.shared.pool,
            &snapshot.schema,
            &plan.schema,
            source,
            rebuild.texts.as_ref(),
        )?;
        // Every checkpoint is a place to stop, or to notice that this is the child of a fork.
        let mut counted = RebuildSteps::begin(&self.progress, snapshot.len.into());
        let mut watch = |progress: GenerationProgress| {
            counted.reach(RebuildProgress::from(progress));
            let going_on = self.progress.go_on();
            self.shared.process.check()?;
            going_on
        };
        if signer.needs_sources() || needs_texts {
            // It is not known which texts an earlier attempt missed.
            NextGeneration::discard(&self.shared.place, &snapshot)?;
        }
        let threads = self.shared.pool.threads();
        let limits = self.shared.allowance.limits();
        let mut next = NextGeneration::take_up(&snapshot, &plan, *limits)?;
        next.cover(&snapshot, &signer, &mut watch)?;
        // Before any list is written: what texts were missing is known once all rows are made.
        let settled = check_fingerprints(&signer)
            .and_then(|()| self.settle_missing(&signer, rebuild.dropped.as_deref()));
        if let Err(error) = settled {
            if matches!(
                error,
                Error::MissingSources { .. } | Error::InvalidSchema { .. }
            ) {
                drop(next);
                NextGeneration::discard(&self.shared.place, &snapshot)?;
            }
            return Err(error);
        }
        next.post(&snapshot, threads, rebuild.memory, &mut watch)?;

        // Commits go on while lists are written. Most of what they add is taken over before the writer is needed.
        self.follow_writers(&mut next, &signer, &mut watch)?;
        next.fill_filter(threads)?;
        let done = next.progress(&*self.published()?);
        // From here on nobody else writes, in this process or another, until the switch.
        let mut files = slot.take_at_last(|| watch(done))?;
        loop {
            match files.take_turn() {
                Err(Error::Locked { .. }) => watch(done)?,
                taken => break taken.map(drop)?,
            }
        }
        self.switch(next, &mut files, &signer)?;
        counted.end();
        Ok(true)
    }

    /// Takes over what is committed while a rebuild runs, round by round, until little is left.
    fn follow_writers(
        &self,
        next: &mut NextGeneration,
        rows: &dyn RowMaker,
        watch: &mut dyn FnMut(GenerationProgress) -> Result<()>,
    ) -> Result<()> {
        let threads = self.shared.pool.threads();
        let limits = self.shared.allowance.limits();
        // Since the next index exists, commits record which documents they change.
        self.catch_up()?;
        next.copy_catalog(&*self.published()?, threads)?;
        for _ in 0..ROUNDS {
            self.catch_up()?;
            let snapshot = self.published()?;
            watch(next.progress(&snapshot))?;
            // If little is left, it can wait until this process has the turn.
            if next.behind(&snapshot) < limits.few_behind && next.unbanded() < limits.many_unbanded
            {
                return next.follow(&snapshot, threads);
            }
            next.cover(&snapshot, rows, watch)?;
            next.post_rest(&snapshot, threads)?;
            next.follow(&snapshot, threads)?;
        }
        Ok(())
    }

    /// Returns the unfinished rebuild, if there is one. It may be running, in this process or another one. Of one that has
    /// only just begun, or is ending, nothing is known yet: the call waits for that.
    ///
    /// # Errors
    ///
    /// [`Error::Rebuilding`] if that takes longer than [`Options::wait`](crate::Options::wait), or those of reading the
    /// store.
    pub fn unfinished_rebuild(&self) -> Result<Option<Unfinished>> {
        let mut patience = Patience::new(self.shared.wait.time);
        let mut found = self.begun_rebuild(&*self.published()?);
        loop {
            // A rebuild that runs but has recorded nothing is just beginning or ending.
            let is_unknown = match &found {
                Ok(None) => NextGeneration::maker(&self.shared.place)?.0,
                Err(Error::Blocked { .. }) => true,
                _ => false,
            };
            if !is_unknown {
                return found;
            }
            if !patience.pause() {
                let path = self.shared.place.clone();
                let error = found.err().unwrap_or(Error::Rebuilding {
                    path,
                    process: None,
                });
                return Err(self.rebuilt_elsewhere(error));
            }
            self.progress.go_on()?;
            // The one that was looked at may be of an earlier generation.
            let newest = Snapshot::open(&self.shared.place);
            found = newest.and_then(|newest| self.begun_rebuild(&newest));
        }
    }

    /// Returns the unfinished rebuild, if there is one and it has said what it does.
    pub(super) fn begun_rebuild(&self, snapshot: &Snapshot) -> Result<Option<Unfinished>> {
        let Some((plan, progress, bytes)) = NextGeneration::look(&self.shared.place, snapshot)?
        else {
            return Ok(None);
        };
        let (is_running, process) = NextGeneration::maker(&self.shared.place)?;
        Ok(Some(Unfinished {
            schema: (*plan.schema).clone(),
            compacts: plan.renumbers,
            progress: progress.into(),
            bytes,
            is_running,
            process,
        }))
    }

    /// Discards and returns an unfinished rebuild with a different target than `rebuild`, which could not run beside
    /// it.
    ///
    /// ```
    /// use dedupdb::{Progress, Schema, Store, upkeep::Rebuild};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// # store.insert_unless_duplicate("one", "a text")?;
    /// let hasty = store.watched(&Progress::observed(Progress::stop));
    /// assert!(hasty.rebuild(Rebuild::compact()).is_err());
    /// let larger = || Schema::builder().permutations(256).build().map(Rebuild::reindex);
    /// let begun = store.cancel_other_rebuild(&larger()?)?;
    /// assert!(begun.is_some_and(|begun| begun.compacts));
    /// assert!(store.rebuild(larger()?)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Store::cancel_rebuild`] and of reading the store.
    pub fn cancel_other_rebuild(&self, rebuild: &Rebuild<'_>) -> Result<Option<Unfinished>> {
        self.after_other_rebuilds(|| self.cancel_other(rebuild))
    }

    fn cancel_other(&self, rebuild: &Rebuild<'_>) -> Result<Option<Unfinished>> {
        let Some(plan) = plan(rebuild, &*self.published()?)? else {
            return Ok(None);
        };
        let begun = self.begun_rebuild(&*self.published()?)?;
        let is_other =
            |begun: &Unfinished| begun.schema != *plan.schema || begun.compacts != plan.renumbers;
        let Some(begun) = begun.filter(is_other) else {
            return Ok(None);
        };
        Ok(self.cancel()?.then_some(begun))
    }

    /// Discards an unfinished rebuild and deletes its files; returns whether there was one.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], [`Error::Rebuilding`] if another process goes on with it, or those of the system.
    pub fn cancel_rebuild(&self) -> Result<bool> {
        self.after_other_rebuilds(|| self.cancel())
    }

    fn cancel(&self) -> Result<bool> {
        self.slot()?;
        let _alone = self.shared.rebuilding.enter()?;
        NextGeneration::discard(&self.shared.place, &*self.last_in_place()?)
    }

    /// The last commit, of the index that is in the store's folder.
    fn last_in_place(&self) -> Result<Arc<Snapshot>> {
        self.catch_up()?;
        // Another process may have put a new index there since.
        if self.published()?.check_in_place().is_err() {
            self.catch_up()?;
        }
        let snapshot = self.published()?;
        snapshot.check_in_place()?;
        Ok(snapshot)
    }

    /// Returns an estimate of the disk space in bytes that a rebuild needs besides the store. The estimate is too high
    /// rather than too low.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn rebuild_bytes(&self, rebuild: &Rebuild<'_>) -> Result<u64> {
        let snapshot = self.published()?;
        let Some(plan) = plan(rebuild, &snapshot)? else {
            return Ok(0);
        };
        let files = snapshot.files()?;
        let named = |name: &str| {
            let of = files.iter().filter(|(file, _)| file.starts_with(name));
            of.map(|(_, bytes)| bytes).sum::<u64>()
        };
        if plan.renumbers {
            // All is written again, except what is free.
            let all: u64 = files.iter().map(|(_, bytes)| bytes).sum();
            return Ok(all.saturating_sub(snapshot.reclaimable()?));
        }
        let mut bytes = named("index") + named("filter");
        if plan.refingerprints(&snapshot.schema) {
            bytes += named("contents") + named("shingles") / 2;
        }
        if plan.resigns(&snapshot.schema) {
            let (old, new) = (&snapshot.schema, &plan.schema);
            let signatures = old.signatures_in(named("signatures"));
            bytes += u64::from(signatures) * new.signature_bytes() as u64;
        }
        Ok(bytes)
    }

    /// Fails if texts were missing, or removes their documents.
    fn settle_missing(
        &self,
        signer: &Resigner<'_>,
        dropped: Option<&DroppedKeys<'_>>,
    ) -> Result<()> {
        let keys = signer.missing();
        if keys.is_empty() {
            return Ok(());
        }
        let Some(dropped) = dropped else {
            return Err(Error::MissingSources { keys });
        };
        let mut writer = self.writer()?;
        let mut removed = Vec::new();
        for key in keys {
            if writer.remove(&key)? {
                removed.push(key);
            }
        }
        writer.commit()?;
        dropped(&removed);
        Ok(())
    }

    fn switch(
        &self,
        next: NextGeneration,
        files: &mut StoreFiles,
        rows: &dyn RowMaker,
    ) -> Result<()> {
        let sketcher = StoreSketcher::new(&next.plan().schema, &self.shared.meters)?;
        let (snapshot, durable) = next.install(files, rows, self.shared.pool.threads())?;
        self.publish(PublishedCommit {
            snapshot: Arc::new(snapshot),
            sketcher: Arc::new(sketcher),
        });
        durable
    }
}

/// The plan of a rebuild; none if the store already is as requested.
fn plan(rebuild: &Rebuild<'_>, snapshot: &Snapshot) -> Result<Option<RebuildPlan>> {
    let stored = &snapshot.schema;
    // A rebuild with the same parameters has something to do if it gets texts for contents without fingerprints.
    let fills_gaps = rebuild.texts.is_some() && snapshot.tables.meta.unfingerprinted > 0;
    Ok(match &rebuild.target {
        RebuildTarget::Reindex(schema) if **schema == **stored && fills_gaps => Some(RebuildPlan {
            schema: stored.clone(),
            renumbers: true,
        }),
        RebuildTarget::Reindex(schema) if **schema == **stored => None,
        RebuildTarget::Reindex(schema) => {
            check_reachable(stored, schema)?;
            Some(RebuildPlan {
                schema: Arc::new((**schema).clone()),
                renumbers: false,
            })
        }
        RebuildTarget::Pack => Some(RebuildPlan {
            schema: stored.clone(),
            renumbers: false,
        }),
        RebuildTarget::Compact if snapshot.is_compact()? && !is_begun(snapshot)? => None,
        RebuildTarget::Compact => Some(RebuildPlan {
            schema: stored.clone(),
            renumbers: true,
        }),
        RebuildTarget::Resume => {
            let next = NextGeneration::find(snapshot.folder(), snapshot)?;
            next.map(|next| next.plan().clone())
        }
    })
}

/// Whether the fingerprints of the plan do not follow from those of the store.
///
/// # Errors
///
/// [`Error::InvalidSchema`] if so, and no texts are given.
fn needs_texts(snapshot: &Snapshot, plan: &RebuildPlan, rebuild: &Rebuild<'_>) -> Result<bool> {
    let needs = snapshot.len > 0
        && plan.schema.fingerprint_step().is_some()
        && snapshot.schema.fingerprint_factor(&plan.schema).is_none();
    if needs && rebuild.texts.is_none() {
        let reason = "the fingerprints of passages of another length need the texts, which a store does not keep"
            .to_owned();
        let parameter = "passage";
        return Err(Error::InvalidSchema { parameter, reason });
    }
    Ok(needs)
}

/// Refuses to drop fingerprints of documents whose texts are not among those that are given.
fn check_fingerprints(signer: &Resigner<'_>) -> Result<()> {
    let keys = signer.unfingerprinted();
    let Some(first) = keys.first() else {
        return Ok(());
    };
    let documents = match keys.len() - 1 {
        0 => format!("{first:?} has"),
        more => format!("{first:?} and {more} more documents have"),
    };
    let reason = format!(
        "{documents} fingerprints, which do not serve for the new length, and would have none, because the texts were not \
         given; a rebuild with the length 0 drops all of them"
    );
    let parameter = "passage";
    Err(Error::InvalidSchema { parameter, reason })
}

/// Whether there is an unfinished rebuild.
fn is_begun(snapshot: &Snapshot) -> Result<bool> {
    Ok(NextGeneration::look(snapshot.folder(), snapshot)?.is_some())
}

/// Refuses to change parameters that the shingles depend on.
fn check_reachable(stored: &Schema, target: &Schema) -> Result<()> {
    const FIXED: [&str; 5] = ["shingling", "lowercase", "nfkc", "fold", "shingles"];
    let changed = stored.parameters().into_iter().zip(target.parameters());
    let mut changed = changed.filter(|(old, new)| old != new);
    match changed.find(|((name, _), _)| FIXED.contains(name)) {
        Some(((parameter, old), (_, new))) => Err(Error::InvalidSchema {
            parameter,
            reason: format!(
                "it is {old} in the store and cannot become {new}: that needs the texts, which a \
                 store does not keep; make another store and add them to it"
            ),
        }),
        None => Ok(()),
    }
}
