//! The pages of each hour, and their texts.

use std::collections::BTreeMap;
use std::ops::Range;

use dedupdb::Input;

/// The number of hours in a day. The last one is the night.
pub(crate) const HOURS: u32 = 24;

/// The number of hours that a page lives.
const LIFE: u32 = 3 * HOURS;

/// The number of integers in a page.
const INTEGERS: u64 = 40;

/// The number of pages in a family. Each has one integer of its own: any two share 38 of 42.
const FAMILY: u32 = 4;

/// The key of the document that records the last committed hour.
pub(crate) const CLOCK: &str = "clock";

pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 32
}

/// The number of pages that come, change and go in an hour.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    changes: u32,
}

impl Plan {
    pub(crate) fn new(changes: u32) -> Plan {
        Plan { changes }
    }

    pub(crate) fn changes(self) -> u32 {
        self.changes
    }

    /// The number of pages that come in an hour, and go a few days later.
    fn new_pages(self) -> u32 {
        self.changes * 3 / 8
    }

    fn of_hour(self, hour: u32) -> Range<u32> {
        hour * self.new_pages()..(hour + 1) * self.new_pages()
    }

    /// Pages that come or change in `hour`.
    pub(crate) fn written(self, hour: u32) -> impl Iterator<Item = u32> {
        let oldest = self.of_hour((hour + 1).saturating_sub(LIFE)).start;
        let new = self.of_hour(hour);
        let living = new.start - oldest;
        let changed = (0..self.changes / 4).filter_map(move |n| {
            let drawn = mix(u64::from(hour) << 32 | u64::from(n));
            let of_living = drawn.checked_rem(u64::from(living))?;
            Some(oldest + u32::try_from(of_living).unwrap())
        });
        changed.chain(new)
    }

    /// Pages that go in `hour`.
    pub(crate) fn gone(self, hour: u32) -> Range<u32> {
        hour.checked_sub(LIFE)
            .map_or(0..0, |first| self.of_hour(first))
    }
}

pub(crate) fn key(page: u32) -> String {
    format!("page/{page:09}")
}

/// Whether a page that was written in `hour` resembles its family. A third of the written pages have nothing in common
/// with it.
fn is_of_family(page: u32, hour: u32) -> bool {
    !mix(u64::from(page) << 32 | u64::from(hour) << 1 | 1).is_multiple_of(3)
}

/// The text of a page as it was written in `hour`.
pub(crate) fn text(page: u32, hour: u32) -> String {
    let own = u64::from(page) << 32 | u64::from(hour);
    let family = u64::MAX - u64::from(page / FAMILY);
    let of = if is_of_family(page, hour) {
        family
    } else {
        own
    };
    let integer = |place: u64| {
        let of = if place == u64::from(page % FAMILY) {
            own
        } else {
            of
        };
        (mix(mix(of) + place) >> 32).to_string()
    };
    (0..INTEGERS).map(integer).collect::<Vec<_>>().join(" ")
}

pub(crate) fn input(page: u32, hour: u32) -> Input {
    Input::new(key(page), text(page, hour))
}

/// The pages that are stored at the end of an hour, and the hour in which each was written.
pub(crate) struct Model {
    plan: Plan,
    /// The number of hours that have passed.
    hour: u32,
    pages: BTreeMap<u32, u32>,
}

impl Model {
    pub(crate) fn new(plan: Plan) -> Model {
        Model {
            plan,
            hour: 0,
            pages: BTreeMap::new(),
        }
    }

    pub(crate) fn hour(&self) -> u32 {
        self.hour
    }

    /// Advances to the end of an hour. `hours` is the number of hours that have passed by then.
    pub(crate) fn reach(&mut self, hours: u32) {
        while self.hour < hours {
            let hour = self.hour;
            let written = self.plan.written(hour).map(|page| (page, hour));
            self.pages.extend(written);
            for page in self.plan.gone(hour) {
                self.pages.remove(&page);
            }
            self.hour += 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// A page of the last days, stored or not.
    pub(crate) fn draw(&self, seed: u64) -> u32 {
        let end = self.plan.of_hour(self.hour).start;
        let oldest = self
            .plan
            .of_hour(self.hour.saturating_sub(LIFE + HOURS))
            .start;
        let drawn = mix(seed) % u64::from(end - oldest).max(1);
        oldest + u32::try_from(drawn).unwrap()
    }

    /// The keys of the pages that resemble a page. Returns `None` if the page is not stored.
    pub(crate) fn like(&self, page: u32) -> Option<Vec<String>> {
        let hour = *self.pages.get(&page)?;
        let first = page / FAMILY * FAMILY;
        let family = self.pages.range(first..first + FAMILY);
        let like = family.filter(|&(&other, &written)| {
            other != page && is_of_family(page, hour) && is_of_family(other, written)
        });
        Some(like.map(|(&other, _)| key(other)).collect())
    }
}
