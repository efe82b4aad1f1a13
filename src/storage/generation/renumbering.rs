//! New content ids for a store that drops some contents.

use crate::codec::low32;

/// Numbers the remaining contents from 0 on, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renumbering {
    /// Sorted.
    left_out: Vec<u32>,
}

impl Renumbering {
    /// Leaves out the contents in `left_out`, which must be sorted.
    pub(crate) fn without(left_out: Vec<u32>) -> Renumbering {
        Renumbering { left_out }
    }

    /// Whether the content with an old id is left out.
    pub(crate) fn leaves_out(&self, id: u32) -> bool {
        self.left_out.binary_search(&id).is_ok()
    }

    /// The new id of a content or, if it is left out, that of the next remaining content.
    pub(crate) fn new_id(&self, id: u32) -> u32 {
        let before = self.left_out.partition_point(|&left_out| left_out < id);
        // At most `id` left-out ids are below `id`.
        id - low32(before as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_stay_move_up() {
        let ids = Renumbering::without(vec![0, 3, 4]);
        let new: Vec<u32> = (0..7)
            .filter(|&id| !ids.leaves_out(id))
            .map(|id| ids.new_id(id))
            .collect();
        assert_eq!(new, [0, 1, 2, 3]);
        assert_eq!(ids.new_id(3), 2);
        assert_eq!(Renumbering::default().new_id(9), 9);
    }
}
