//! Queries and their answers.

use crate::error::{Error, Result};
use crate::schema::{Schema, check_share, check_threshold};
use crate::storage::{ContentRow, Snapshot};
use crate::store::compare::{
    Allowance, BodyRef, Match, Matcher, Probe, PublishedCommit, Search, Sketch, StoreSketcher,
    VerifiedContent, content_sketch,
};
use crate::store::handle::Store;
use crate::store::overlap::{ANY, Containment, ContainmentBounds, contained};
use crate::text::ShingleSet;

/// A query for the stored documents that resemble a text or a document.
///
/// ```
/// use dedupdb::Query;
///
/// let of_a_text = Query::text("the quick brown fox").threshold(0.9).limit(10);
/// let of_a_document = Query::key("animals/fox.txt");
/// let shingles = dedupdb::Schema::default().shingler()?.shingles("the quick brown fox")?;
/// let of_shingles = Query::shingles(&shingles);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query<'a> {
    subject: Subject<'a>,
    threshold: Option<f64>,
    limit: usize,
    except: Option<&'a str>,
    copies_first: bool,
    containment: Containment,
    ignored: Option<&'a ShingleSet>,
    is_nearest: bool,
    is_exhaustive: bool,
}

/// What to compare: a text, shingles instead of a text, or a stored document.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// A text.
    Text(&'a str),
    /// A text and the hash that stands for it, instead of that of the text ([`Input::hashed`](crate::Input::hashed)).
    Hashed {
        /// The text.
        text: &'a str,
        /// The hash.
        hash: [u8; 32],
    },
    /// Shingles instead of a text; see [`Body`](crate::write::Body).
    Shingles(&'a ShingleSet),
    /// The document with this key.
    Key(&'a str),
}

impl<'a> Query<'a> {
    /// Asks for the documents that resemble `text`.
    pub fn text(text: &'a str) -> Query<'a> {
        Query::of(Subject::Text(text))
    }

    /// Asks for the documents that resemble a text with these shingles. A document that was stored as the
    /// same shingles, without a text, is an exact copy.
    pub fn shingles(shingles: &'a ShingleSet) -> Query<'a> {
        Query::of(Subject::Shingles(shingles))
    }

    /// Asks for the documents that resemble the stored document `key`, which is not among them.
    pub fn key(key: &'a str) -> Query<'a> {
        Query {
            except: Some(key),
            ..Query::of(Subject::Key(key))
        }
    }

    /// Asks for the documents that resemble a subject, itself included if it is stored.
    pub fn of(subject: Subject<'a>) -> Query<'a> {
        Query {
            subject,
            threshold: None,
            limit: usize::MAX,
            except: None,
            copies_first: false,
            containment: Containment::default(),
            ignored: None,
            is_nearest: false,
            is_exhaustive: false,
        }
    }

    /// The minimum Jaccard similarity of a match, above 0 and at most 1, instead of the schema's.
    ///
    /// The bands were chosen for the schema's threshold. Below it, they find a smaller share of the pairs;
    /// [`Schema::recall`](crate::Schema::recall) returns it.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Query<'a> {
        self.threshold = Some(threshold);
        self
    }

    /// Asks for the documents of which at least this share of the shingles is in the subject, or that have this share of
    /// the subject's, whatever else is in them; above 0 and at most 1. There is then no minimum similarity, and the
    /// matches with the largest share come first.
    ///
    /// A document is found if it has at least half as many fingerprints in common with the subject as that share of the
    /// shorter one has on average, and at least one. With [`Schema::passage`](crate::Schema::passage) 20, 99.9% of the
    /// contained texts of a mixed corpus are found, with 50, 98.7%: the others are shorter than that, or differ
    /// everywhere. [`PairQuery::containment`](crate::groups::PairQuery::containment) misses none.
    ///
    /// ```
    /// use dedupdb::{Query, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let schema = Schema::builder().passage(10).build()?;
    /// let store = Store::create(folder.path().join("store"), &schema)?;
    /// let note = "the lamp was lit at dusk and the keeper wrote down the wind, the sea and every ship in sight";
    /// store.insert_unless_duplicate("note", note)?;
    /// let letter = format!("Dear Anna, here is what the log says: {note}. Nothing more happened. Yours, Tom");
    /// assert!(store.query(&Query::text(&letter))?.is_empty());
    /// let found = store.query(&Query::text(&letter).containment(0.8).shortest(10))?;
    /// assert_eq!((found[0].key.as_str(), found[0].containment_of_match), ("note", Some(1.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn containment(mut self, share: f64) -> Query<'a> {
        self.containment.least = Some(share);
        self
    }

    /// With [`Query::containment`], the number of tokens that a contained text has at least, 20 by default. Exact copies
    /// are found whatever their length.
    #[must_use]
    pub fn shortest(mut self, tokens: usize) -> Query<'a> {
        self.containment.shortest = tokens;
        self
    }

    /// Compares texts without these shingles, on either side: those of a template, a licence, base code. A text of which
    /// nothing is left, or in a query by containment less than the [shortest](Query::shortest) text has, has no matches,
    /// not even its copies.
    ///
    /// The bands and fingerprints of stored texts are those of all their shingles, so every stored text is compared, and
    /// none is missed. That takes about a second for a million of them. [`PairQuery::ignore`](crate::groups::PairQuery::ignore)
    /// compares all with all in far less time than as many queries. What a match says of signatures, the
    /// [`estimate`](Match::estimate) and the [`bands`](Match::bands), is that of the whole texts.
    ///
    /// ```
    /// use dedupdb::{Query, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let schema = Schema::builder().threshold(0.5).build()?;
    /// let store = Store::create(folder.path().join("store"), &schema)?;
    /// let form = "name of the applicant, date and place of birth, current address of the applicant, signature";
    /// store.insert_unless_duplicate("one", format!("{form}: Ada, in London"))?;
    /// let other = format!("{form}: Emmy, in Erlangen");
    /// let query = Query::text(&other);
    /// assert_eq!(store.query(&query)?.len(), 1);
    /// let form = store.schema().shingler()?.shingles(form)?;
    /// assert!(store.query(&query.ignore(&form))?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ignore(mut self, shingles: &'a ShingleSet) -> Query<'a> {
        self.ignored = Some(shingles);
        self
    }

    /// Asks for this number of documents with the largest Jaccard similarity, however small, instead of all from the schema's
    /// threshold on. With a [threshold](Query::threshold), which may be 0 then, for those that reach it.
    ///
    /// They are the most similar ones of those that share a band with the subject or, if the schema has
    /// [passages](crate::Schema::passage), a fingerprint. Texts that share neither are missed, and with small similarities
    /// most do not: by default, a band is shared by 98% of the texts with a similarity of 0.8, and by 12.5% of those with 0.5.
    /// [`Query::exhaustive`] misses none. Documents without a common shingle are never among them.
    ///
    /// ```
    /// use dedupdb::{Query, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let schema = Schema::builder().shingling("word:1".parse()?).build()?;
    /// let store = Store::create(folder.path().join("store"), &schema)?;
    /// for (key, text) in [("a", "red fox"), ("b", "red fox and brown dog"), ("c", "grey wolf"), ("d", "red")] {
    ///     store.insert_unless_duplicate(key, text)?;
    /// }
    /// let found = store.query(&Query::text("the red fox").nearest(2).exhaustive(true))?;
    /// assert_eq!(found.iter().map(|it| it.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn nearest(mut self, most: usize) -> Query<'a> {
        self.is_nearest = true;
        self.limit = most;
        self
    }

    /// Whether to compare the subject with every stored text by its shingles, whatever bands and fingerprints they share, so that
    /// no match is missed. This takes about a second for a million texts. If the store keeps no shingles, estimates decide.
    #[must_use]
    pub fn exhaustive(mut self, exhaustive: bool) -> Query<'a> {
        self.is_exhaustive = exhaustive;
        self
    }

    /// The maximum number of matches; the best ones are returned.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Query<'a> {
        self.limit = limit;
        self
    }

    /// Leaves the document `key` out of the answer.
    #[must_use]
    pub fn except(mut self, key: &'a str) -> Query<'a> {
        self.except = Some(key);
        self
    }

    /// The maximum number of matches.
    pub fn most(&self) -> usize {
        self.limit
    }

    /// Of documents that are equally similar, returns the exact copies first.
    #[must_use]
    pub fn copies_first(mut self) -> Query<'a> {
        self.copies_first = true;
        self
    }
}

impl Query<'_> {
    /// The least similarity of a match.
    fn least(&self, schema: &Schema) -> Result<f64> {
        let threshold = match (self.threshold, self.is_nearest) {
            (None | Some(0.0), true) => ANY,
            (threshold, _) => threshold.unwrap_or(schema.threshold()),
        };
        if self.is_nearest && self.containment.least.is_some() {
            let reason = "the nearest documents are those with the largest Jaccard similarity; leave out the containment, \
                          or limit the number of its matches"
                .to_owned();
            let parameter = "nearest";
            return Err(Error::InvalidQuery { parameter, reason });
        }
        check_threshold(threshold)?;
        Ok(threshold)
    }
}

impl Store {
    /// Returns the documents that resemble the subject of the query: the best first, ties by key.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchDocument`] for a key that is not stored, [`Error::InvalidQuery`] for a threshold
    /// out of range, [`Error::InvalidText`], [`Error::InvalidShingles`], or those of reading the store.
    pub fn query(&self, query: &Query<'_>) -> Result<Vec<Match>> {
        let PublishedCommit { snapshot, sketcher } = self.current()?;
        answer(&snapshot, &sketcher, &self.shared.allowance, query)
    }
}

/// Answers `query` from `snapshot`: the best first, ties by key.
pub(crate) fn answer(
    snapshot: &Snapshot,
    sketcher: &StoreSketcher,
    allowance: &Allowance,
    query: &Query<'_>,
) -> Result<Vec<Match>> {
    let threshold = query.least(&snapshot.schema)?;
    let (hash, sketch) = match query.subject {
        Subject::Text(text) => given_sketch(sketcher, BodyRef::Text(text))?,
        Subject::Hashed { text, hash } => (hash, sketcher.sketch(BodyRef::Text(text))?),
        Subject::Shingles(shingles) => given_sketch(sketcher, BodyRef::Shingles(shingles))?,
        Subject::Key(key) => {
            let (row, sketch) = stored_sketch(snapshot, key)?;
            (row.hash, sketch)
        }
    };
    let probe = sketch.probe(&hash);
    let nothing = ShingleSet::default();
    // Without bands and fingerprints, containment needs the sets of all contents, as a query that ignores shingles
    // does.
    let all_by_containment = query.is_exhaustive && query.containment.least.is_some();
    let mut verified =
        if let Some(ignored) = query.ignored.or(all_by_containment.then_some(&nothing)) {
            matches_without(snapshot, probe, ignored, threshold, query.containment)?
        } else if query.is_exhaustive {
            all_matches(snapshot, probe, threshold)?
        } else if let Some(bounds) = query.containment.bounds(&snapshot.schema) {
            contained(snapshot, allowance, probe, bounds, 0..snapshot.len)?
        } else {
            let search = Search {
                snapshot,
                allowance,
                threshold,
            };
            let mut verified = search.matches(probe, 0..snapshot.len)?;
            // The nearest may share no band. With passages, what shares a fingerprint is looked at as well.
            if query.is_nearest && snapshot.schema.passage() > 0 {
                verified.extend(matches_by_fingerprint(search, probe)?);
                verified.sort_by_key(|verified| verified.content);
                verified.dedup_by_key(|verified| verified.content);
            }
            verified
        };
    let naming = MatchNaming {
        limit: query.limit,
        except: query.except,
        copies_first: query.copies_first,
        by_containment: query.containment.least.is_some(),
    };
    naming.name(snapshot, &mut verified)
}

/// The contents that match a probe, of all there are, by id. Some may be removed already.
fn all_matches(
    snapshot: &Snapshot,
    probe: Probe<'_>,
    threshold: f64,
) -> Result<Vec<VerifiedContent>> {
    // At a larger threshold, signatures would rule some out, and one in a million wrongly. Without shingles, they decide.
    let are_exact = snapshot.schema.keeps_shingles();
    let mut matcher = Matcher::new(snapshot, probe, if are_exact { ANY } else { threshold });
    let mut matches = Vec::new();
    for content in 0..snapshot.len {
        let verified = matcher.verify(content)?;
        matches.extend(verified.filter(|it| !are_exact || it.likeness.similarity() >= threshold));
    }
    Ok(matches)
}

/// The contents that share a fingerprint with a probe and match it, by id. Some may be removed already.
fn matches_by_fingerprint(search: Search<'_>, probe: Probe<'_>) -> Result<Vec<VerifiedContent>> {
    let (snapshot, shingles) = (search.snapshot, 0);
    let bounds = ContainmentBounds {
        least: ANY,
        shingles,
    };
    let mut found = contained(snapshot, search.allowance, probe, bounds, 0..snapshot.len)?;
    found.retain(|verified| verified.likeness.similarity() >= search.threshold);
    Ok(found)
}

/// The contents that match a probe once neither has these shingles, by id. Some may be removed already.
fn matches_without(
    snapshot: &Snapshot,
    probe: Probe<'_>,
    ignored: &ShingleSet,
    threshold: f64,
    containment: Containment,
) -> Result<Vec<VerifiedContent>> {
    if !snapshot.schema.keeps_shingles() {
        return Err(Error::NoShingles);
    }
    let bounds = containment.bounds(&snapshot.schema);
    if let Some(bounds) = bounds {
        check_share("containment", bounds.least)?;
    }
    let mut left = probe.shingles.clone();
    left.remove(ignored);
    let probe = Probe {
        shingles: &left,
        ..probe
    };
    // Containment has no least similarity, but a content without a common shingle never matches.
    let least = bounds.map_or(threshold, |_| ANY);
    let mut matcher = Matcher::new(snapshot, probe, least).ignoring(ignored);
    let mut matches = Vec::new();
    for content in 0..snapshot.len {
        let Some(verified) = matcher.verify(content)? else {
            continue;
        };
        let likeness = verified.likeness;
        // What is left of the shorter text must be long enough.
        let shorter = left.len().min(matcher.last_without().len());
        if bounds.is_none_or(|bounds| {
            likeness.larger_containment() >= Some(bounds.least) && shorter >= bounds.shingles
        }) {
            matches.push(verified);
        }
    }
    Ok(matches)
}

/// How matching contents are turned into documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchNaming<'a> {
    pub(crate) limit: usize,
    pub(crate) except: Option<&'a str>,
    pub(crate) copies_first: bool,
    /// Whether the larger share comes before the similarity.
    pub(crate) by_containment: bool,
}

impl MatchNaming<'_> {
    /// The documents that name the contents: the best first, of these the exact copies if requested, ties by key.
    pub(crate) fn name(
        &self,
        snapshot: &Snapshot,
        verified: &mut [VerifiedContent],
    ) -> Result<Vec<Match>> {
        // By the share if containment counts, then by similarity, then by whether it is a copy if copies come first.
        let order = |a: &VerifiedContent, b: &VerifiedContent| {
            let is_copy =
                |verified: &VerifiedContent| self.copies_first && verified.likeness.exact_copy;
            let share = |verified: &VerifiedContent| {
                let share = verified.likeness.larger_containment();
                share.filter(|_| self.by_containment).unwrap_or(0.0)
            };
            let by_share = share(a).total_cmp(&share(b));
            let by_similarity = by_share.then_with(|| by_similarity(a, b));
            by_similarity.then_with(|| is_copy(a).cmp(&is_copy(b)))
        };
        verified.sort_by(|a, b| order(b, a));
        let mut matches = Vec::new();
        // Documents that are equally good are ordered by key, so all of them are needed before any is cut off.
        for tied in verified.chunk_by(|a, b| order(a, b).is_eq()) {
            let start = matches.len();
            let room = self.limit.saturating_sub(start);
            if room == 0 {
                break;
            }
            // Of each content, no more names are read than there is room for.
            for verified in tied {
                let names = snapshot
                    .names(verified.content)?
                    .filter(|name| !matches!(name, Ok(key) if Some(key.as_str()) == self.except));
                for name in names.take(room) {
                    matches.push(Match::new(name?, verified));
                }
            }
            matches[start..].sort_by(|a, b| a.key.cmp(&b.key));
            matches.truncate(self.limit);
        }
        Ok(matches)
    }
}

/// The hash and the sketch of a text or of shingles.
pub(crate) fn given_sketch(
    sketcher: &StoreSketcher,
    body: BodyRef<'_>,
) -> Result<([u8; 32], Sketch)> {
    sketcher.check(body)?;
    Ok((body.hash(), sketcher.sketch(body)?))
}

/// The content of a stored document and its sketch.
pub(crate) fn stored_sketch(snapshot: &Snapshot, key: &str) -> Result<(ContentRow, Sketch)> {
    let Some(document) = snapshot.document(key)? else {
        let key = key.to_owned();
        return Err(Error::NoSuchDocument { key });
    };
    content_sketch(snapshot, document.content)
}

fn by_similarity(a: &VerifiedContent, b: &VerifiedContent) -> std::cmp::Ordering {
    a.likeness.similarity().total_cmp(&b.likeness.similarity())
}
