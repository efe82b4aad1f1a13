//! Candidates from buckets that arrive as a stream of sorted rows.

use std::collections::VecDeque;

use super::code::ContentCode;
use crate::error::{Error, Result};
use crate::schema::check_threshold;
use crate::text::sizes_fit;

/// By default, a content is paired with at most this number of contents of a bucket.
const MOST: usize = 4000;

/// Finds candidates in rows of a key and a content, sorted by both, without holding a bucket.
///
/// An engine sorts `(band key, code)` rows by key and code, and gives them to a [`BucketWalk`] batch by batch; a bucket
/// may span batches. Rows of one content in one bucket, such as those of copies, count once. A content is paired with
/// the contents before it in its bucket. These are no larger than it; those too small to reach the threshold are left
/// out. If there are more than [`most`](BucketSearch::most), it is paired with the nearest of them. A pair is returned
/// once for every bucket that both share.
///
/// ```
/// use dedupdb::batch::{BucketSearch, ContentCode};
///
/// let code = |size, hash| ContentCode::new(&[hash; 32], size);
/// let (a, b, c) = (code(90, 1), code(95, 2), code(400, 3));
/// let mut walk = BucketSearch::new(0.8)?.walk();
/// walk.push(&[7, 7], &[a, b], None, None)?;
/// walk.push(&[7, 8, 8], &[c, a, c], None, None)?;
/// assert_eq!(walk.take().pairs, [(a, b)]);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BucketSearch {
    threshold: f64,
    most: usize,
    beyond: usize,
    large: usize,
    near: usize,
}

/// The results from a part of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketPairs {
    /// Contents to be compared, the lower code first.
    pub pairs: Vec<(ContentCode, ContentCode)>,
    /// Contents of large buckets ([`BucketSearch::large`]), once for each such bucket.
    pub large: Vec<ContentCode>,
    /// Contents that [`BucketSearch::most`] kept from being paired with all contents of a bucket that fit by size, and
    /// the number of those left out. Once for each such bucket.
    pub passed_over: Vec<(ContentCode, u64)>,
}

impl BucketSearch {
    /// Pairs contents whose sizes let them reach this threshold: J(A, B) <= |A| / |B|.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQuery`] if the threshold is not above 0 and at most 1.
    pub fn new(threshold: f64) -> Result<BucketSearch> {
        check_threshold(threshold)?;
        Ok(BucketSearch {
            threshold,
            most: MOST,
            beyond: 0,
            large: usize::MAX,
            near: 0,
        })
    }

    /// Pairs a content with at most this number of contents before it in its bucket; 4,000 by default, [`usize::MAX`]
    /// for all. This number of contents is held in memory.
    #[must_use]
    pub fn most(mut self, contents: usize) -> BucketSearch {
        self.most = contents;
        self
    }

    /// Leaves out this number of the nearest contents, which an earlier walk with the same number for
    /// [`most`](BucketSearch::most) returned; 0 by default.
    ///
    /// This makes it possible to pair a content with more contents if it matched nearly all of the first ones. As in a
    /// [`Store`](crate::Store), the matches of a content must not count against it.
    #[must_use]
    pub fn beyond(mut self, contents: usize) -> BucketSearch {
        self.beyond = contents;
        self
    }

    /// Calls a bucket of more than `from` contents large. The first `from` contents are paired as usual. Each later one
    /// is paired only with the last `near` contents before it that fit by size. All contents of a large bucket are
    /// listed in [`BucketPairs::large`]; their rarest shingles decide what else they are compared with
    /// ([`Rarity`](super::Rarity)). By default, no bucket is large.
    #[must_use]
    pub fn large(mut self, from: usize, near: usize) -> BucketSearch {
        self.large = from;
        self.near = near;
        self
    }

    /// Starts a walk before the first row.
    pub fn walk(&self) -> BucketWalk {
        BucketWalk {
            search: *self,
            key: None,
            last: None,
            contents: 0,
            first: Vec::new(),
            before: VecDeque::new(),
            left_behind: VecDeque::new(),
            left_behind_pairs: 0,
            left_behind_label: BucketLabels::Nothing,
            rows: 0,
            found: BucketPairs::default(),
        }
    }
}

/// A walk through rows that are sorted by key and code.
#[derive(Clone, Debug)]
pub struct BucketWalk {
    search: BucketSearch,
    /// The current bucket, its last content, and the number of its contents so far.
    key: Option<u64>,
    last: Option<ContentCode>,
    contents: usize,
    /// The first contents of a bucket that may become large.
    first: Vec<ContentCode>,
    /// Contents that the next one may be paired with, and their labels.
    before: VecDeque<(ContentCode, Option<u64>)>,
    /// Sizes of fitting contents that are no longer in `before`, with their numbers; and their total number.
    left_behind: VecDeque<(u32, u64)>,
    left_behind_pairs: u64,
    left_behind_label: BucketLabels,
    rows: usize,
    found: BucketPairs,
}

/// The labels of the contents left behind in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BucketLabels {
    Nothing,
    Alike(u64),
    Mixed,
}

impl BucketWalk {
    /// Takes the next rows. Contents with the same label are not paired. If all contents left behind in a bucket have
    /// the label of a content, they do not count as passed over for that content. If `asking` is given, only the
    /// contents marked there are paired with those before them.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidColumn`] if the columns are not equally long, or the codes of a key descend. Rows are counted
    /// from the first push.
    pub fn push(
        &mut self,
        keys: &[u64],
        codes: &[ContentCode],
        labels: Option<&[u64]>,
        asking: Option<&[bool]>,
    ) -> Result<()> {
        let labels_len = labels.map_or(keys.len(), <[u64]>::len);
        let asking_len = asking.map_or(keys.len(), <[bool]>::len);
        let lens = [codes.len(), labels_len, asking_len];
        if lens.iter().any(|&len| len != keys.len()) {
            let least = lens.into_iter().min().unwrap_or_default();
            return Err(Error::InvalidColumn {
                column: "codes",
                row: self.rows + least.min(keys.len()),
                reason: format!(
                    "there are {} keys, {} codes, {labels_len} labels, and {asking_len} `asking` flags",
                    keys.len(),
                    codes.len()
                ),
            });
        }
        for (place, (&key, &code)) in keys.iter().zip(codes).enumerate() {
            let label = labels.map(|labels| labels[place]);
            let asks = asking.is_none_or(|asking| asking[place]);
            self.next(key, code, label, asks)?;
            self.rows += 1;
        }
        Ok(())
    }

    /// Returns the results since the last call.
    pub fn take(&mut self) -> BucketPairs {
        std::mem::take(&mut self.found)
    }

    fn next(&mut self, key: u64, code: ContentCode, label: Option<u64>, asks: bool) -> Result<()> {
        if self.key != Some(key) {
            self.begin(key);
        }
        if self.last > Some(code) {
            return Err(Error::InvalidColumn {
                column: "codes",
                row: self.rows,
                reason: "the codes of a key descend: rows are to be sorted by key and code"
                    .to_owned(),
            });
        }
        if self.last == Some(code) {
            return Ok(());
        }
        self.last = Some(code);
        self.contents += 1;
        self.leave_small(code);
        if self.contents <= self.search.large {
            // A bucket may become large later. Then its first contents are listed as well.
            if self.search.large < usize::MAX {
                self.first.push(code);
            }
            if asks {
                self.pair(code, label, usize::MAX);
                self.pass_over(code, label);
            }
        } else {
            self.found.large.append(&mut self.first);
            self.found.large.push(code);
            if asks {
                self.pair(code, label, self.search.near);
            }
        }
        self.keep(code, label);
        Ok(())
    }

    /// Counts the fitting contents that are too far before a content.
    fn pass_over(&mut self, code: ContentCode, label: Option<u64>) {
        let is_own = label.map(BucketLabels::Alike) == Some(self.left_behind_label);
        if !is_own && self.left_behind_pairs > 0 {
            self.found.passed_over.push((code, self.left_behind_pairs));
        }
    }

    fn begin(&mut self, key: u64) {
        self.key = Some(key);
        self.last = None;
        self.contents = 0;
        self.first.clear();
        self.before.clear();
        self.left_behind.clear();
        self.left_behind_pairs = 0;
        self.left_behind_label = BucketLabels::Nothing;
    }

    /// Forgets contents that are too small for this one; later ones are no smaller.
    fn leave_small(&mut self, code: ContentCode) {
        let (size, threshold) = (code.size() as usize, self.search.threshold);
        let fits = |small: u32| sizes_fit(small as usize, size, threshold);
        while self.before.front().is_some_and(|row| !fits(row.0.size())) {
            self.before.pop_front();
        }
        while let Some(&(small, contents)) = self.left_behind.front()
            && !fits(small)
        {
            self.left_behind_pairs -= contents;
            self.left_behind.pop_front();
        }
        if self.left_behind.is_empty() {
            self.left_behind_label = BucketLabels::Nothing;
        }
    }

    /// Pairs a content with the last ones before it.
    fn pair(&mut self, code: ContentCode, label: Option<u64>, most: usize) {
        // The nearest contents come first. An earlier walk has returned the first `beyond` of them.
        let others = self.before.iter().rev().take(most).skip(self.search.beyond);
        let others = others.filter(|other| label.is_none() || other.1 != label);
        let pairs = others.map(|&(other, _)| (other, code));
        self.found.pairs.extend(pairs);
    }

    /// Keeps a content for later ones.
    fn keep(&mut self, code: ContentCode, label: Option<u64>) {
        self.before.push_back((code, label));
        if self.before.len() <= self.search.most {
            return;
        }
        // The oldest content no longer fits into memory. Later contents only count it, as long as its size lets them
        // match.
        let Some((left, label)) = self.before.pop_front() else {
            return;
        };
        self.left_behind_label = match (self.left_behind_label, label) {
            (BucketLabels::Nothing, Some(label)) => BucketLabels::Alike(label),
            (BucketLabels::Alike(all), Some(label)) if all == label => BucketLabels::Alike(all),
            _ => BucketLabels::Mixed,
        };
        self.left_behind_pairs += 1;
        match self.left_behind.back_mut() {
            Some((size, contents)) if *size == left.size() => *contents += 1,
            _ => self.left_behind.push_back((left.size(), 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The results of each bucket at once: pairs, large contents, and passed over ones.
    fn at_once(search: &BucketSearch, rows: &[(u64, ContentCode)]) -> BucketPairs {
        let mut buckets: BTreeMap<u64, Vec<ContentCode>> = BTreeMap::new();
        for &(key, code) in rows {
            buckets.entry(key).or_default().push(code);
        }
        let mut found = BucketPairs::default();
        for mut codes in buckets.into_values() {
            codes.sort_unstable();
            codes.dedup();
            if codes.len() > search.large {
                found.large.extend(&codes);
            }
            for (place, &code) in codes.iter().enumerate() {
                let fits = |other: &&ContentCode| {
                    sizes_fit(
                        other.size() as usize,
                        code.size() as usize,
                        search.threshold,
                    )
                };
                let fitting: Vec<_> = codes[..place].iter().filter(fits).collect();
                let is_large = place >= search.large;
                let most = if is_large { search.near } else { search.most };
                let given = fitting.len().min(most);
                let beyond = search.beyond.min(given);
                let nearest = fitting[fitting.len() - given..fitting.len() - beyond].iter();
                found.pairs.extend(nearest.map(|&&other| (other, code)));
                if !is_large && fitting.len() > given {
                    let passed_over = (code, (fitting.len() - given) as u64);
                    found.passed_over.push(passed_over);
                }
            }
        }
        sorted(found)
    }

    fn sorted(mut found: BucketPairs) -> BucketPairs {
        found.pairs.sort_unstable();
        found.large.sort_unstable();
        found.passed_over.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn any_batches_give_the_pairs_of_each_bucket_at_once(
            rows in prop::collection::vec((0..6_u64, 1..40_u32, 0..5_u8), 0..120),
            cuts in prop::collection::vec(0..120_usize, 0..5),
            most in prop_oneof![Just(usize::MAX), 2..6_usize],
            large in prop_oneof![Just(usize::MAX), 4..9_usize],
            beyond in 0..4_usize,
        ) {
            let code = |size, hash| ContentCode::new(&[hash; 32], size);
            let mut rows: Vec<_> = rows.into_iter().map(|(key, s, h)| (key, code(s, h))).collect();
            rows.sort_unstable();
            let search = BucketSearch::new(0.8).unwrap().most(most).large(large, 2).beyond(beyond);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(rows.len())).collect();
            cuts.extend([0, rows.len()]);
            cuts.sort_unstable();
            let mut walk = search.walk();
            let mut found = BucketPairs::default();
            for ends in cuts.windows(2) {
                let part = &rows[ends[0]..ends[1]];
                let (keys, codes): (Vec<u64>, Vec<ContentCode>) = part.iter().copied().unzip();
                walk.push(&keys, &codes, None, None).unwrap();
                let taken = walk.take();
                found.pairs.extend(taken.pairs);
                found.large.extend(taken.large);
                found.passed_over.extend(taken.passed_over);
            }
            prop_assert_eq!(sorted(found), at_once(&search, &rows));
        }
    }

    #[test]
    fn what_is_connected_already_is_not_passed_over() {
        let codes: Vec<ContentCode> = (0..9).map(|n| ContentCode::new(&[n; 32], 50)).collect();
        let passed_over = |labels: [u64; 9]| {
            let mut walk = BucketSearch::new(0.5).unwrap().most(2).walk();
            walk.push(&[1; 9], &codes, Some(&labels), None).unwrap();
            let passed_over = walk.take().passed_over;
            passed_over.iter().map(|(_, pairs)| pairs).sum::<u64>()
        };
        assert_eq!(passed_over([7; 9]), 0);
        assert_eq!(passed_over([7, 7, 7, 7, 7, 7, 7, 7, 8]), 6);
        assert_eq!(passed_over([7, 8, 7, 8, 7, 8, 7, 8, 7]), 21);
    }

    #[test]
    fn labels_of_contents_that_became_too_small_are_forgotten() {
        let sizes = [10, 10, 10, 10, 50, 50, 50, 50];
        let codes: Vec<ContentCode> = (0..)
            .zip(sizes)
            .map(|(n, size)| ContentCode::new(&[n; 32], size))
            .collect();
        let passed_over = |labels: [u64; 8]| {
            let mut walk = BucketSearch::new(0.5).unwrap().most(2).walk();
            walk.push(&[1; 8], &codes, Some(&labels), None).unwrap();
            walk.take().passed_over
        };
        // The small contents have other labels than the large ones, or mixed ones.
        assert_eq!(passed_over([8, 8, 8, 8, 7, 7, 7, 7]), []);
        assert_eq!(passed_over([7, 7, 7, 7, 7, 7, 7, 7]), []);
        let mixed = passed_over([7, 8, 8, 8, 7, 7, 7, 7]);
        assert_eq!(mixed, [(codes[3], 1)]);
        let other = passed_over([7, 7, 7, 7, 7, 8, 8, 8]);
        assert_eq!(other, [(codes[7], 1)]);
    }

    #[test]
    fn labels_keep_contents_apart_and_unsorted_rows_are_refused() {
        let code = |size| ContentCode::new(&[1; 32], size);
        let search = BucketSearch::new(0.5).unwrap();
        let mut walk = search.walk();
        let codes = [code(5), code(6), code(7)];
        walk.push(&[1, 1, 1], &codes, Some(&[9, 8, 9]), None)
            .unwrap();
        let pairs = walk.take().pairs;
        assert_eq!(pairs, [(codes[0], codes[1]), (codes[1], codes[2])]);
        let refused = walk.push(&[1], &codes[..1], None, None).unwrap_err();
        assert!(refused.to_string().contains("descend"), "{refused}");
        let uneven = walk.push(&[1, 2], &codes[..1], None, None);
        assert!(matches!(uneven, Err(Error::InvalidColumn { row: 4, .. })));
        let told = walk.push(&[2], &codes[..1], None, Some(&[]));
        assert!(told.unwrap_err().to_string().contains("0 `asking` flags"));
    }

    #[test]
    fn walks_beyond_one_another_give_all_pairs_of_those_that_ask() {
        let codes: Vec<ContentCode> = (0..20).map(|n| ContentCode::new(&[n; 32], 50)).collect();
        let pairs = |search: BucketSearch, asking: &[bool]| {
            let mut walk = search.walk();
            walk.push(&[1; 20], &codes, None, Some(asking)).unwrap();
            walk.take()
        };
        let search = BucketSearch::new(0.5).unwrap();
        let all = pairs(search, &[true; 20]).pairs;
        assert_eq!(all.len(), 190);
        let near = pairs(search.most(3), &[true; 20]);
        let cut: Vec<ContentCode> = near.passed_over.iter().map(|(code, _)| *code).collect();
        assert_eq!(cut, codes[4..]);
        let far = pairs(search.beyond(3), &[true; 20]);
        assert!(far.passed_over.is_empty());
        let mut both = [near.pairs, far.pairs].concat();
        both.sort_unstable();
        assert_eq!(both, sorted_pairs(&all));
        let mut last = [false; 20];
        last[19] = true;
        let of_last = pairs(search.beyond(3), &last).pairs;
        assert_eq!(of_last.len(), 16);
        assert!(of_last.iter().all(|(_, code)| *code == codes[19]));
    }

    fn sorted_pairs(pairs: &[(ContentCode, ContentCode)]) -> Vec<(ContentCode, ContentCode)> {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        pairs
    }
}
