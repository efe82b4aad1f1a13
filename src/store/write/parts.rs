//! Items that are added one by one and never moved.

use std::ops::{Index, IndexMut};

/// The number of items in a part, whose memory is allocated at once.
const PART: usize = 4096;

/// A list that grows part by part.
///
/// A list that moves as a whole touches twice the memory, which costs more than all work on it.
#[derive(Debug)]
pub(super) struct ListInParts<T> {
    full: Vec<Vec<T>>,
    last: Vec<T>,
}

impl<T> ListInParts<T> {
    pub(super) const fn new() -> ListInParts<T> {
        ListInParts {
            full: Vec::new(),
            last: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * PART + self.last.len()
    }

    pub(super) fn push(&mut self, item: T) {
        if self.last.len() == PART {
            let next = Vec::with_capacity(PART);
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        self.last.push(item);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.full.iter().flatten().chain(&self.last)
    }

    fn part(&self, part: usize) -> &[T] {
        self.full.get(part).unwrap_or(&self.last)
    }
}

impl<T> Default for ListInParts<T> {
    fn default() -> ListInParts<T> {
        ListInParts::new()
    }
}

impl<T> Index<u32> for ListInParts<T> {
    type Output = T;

    fn index(&self, at: u32) -> &T {
        let at = at as usize;
        &self.part(at / PART)[at % PART]
    }
}

impl<T> IndexMut<u32> for ListInParts<T> {
    fn index_mut(&mut self, at: u32) -> &mut T {
        let at = at as usize;
        let part = self.full.get_mut(at / PART).unwrap_or(&mut self.last);
        &mut part[at % PART]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_where_they_were_added() {
        let part = u32::try_from(PART).unwrap();
        let mut parts = ListInParts::new();
        for item in 0..3 * part + 7 {
            assert_eq!(parts.len(), item as usize);
            parts.push(item);
            assert_eq!(parts[item], item);
        }
        assert!(parts.iter().copied().eq(0..3 * part + 7));
        parts[part - 1] = 1;
        parts[3 * part] = 2;
        assert_eq!((parts[part - 1], parts[3 * part]), (1, 2));
        assert_eq!(parts[part], part);
    }
}
