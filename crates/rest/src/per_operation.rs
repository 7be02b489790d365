//! One value for each operation of an API.

use std::ops::{Index, IndexMut};

use crate::openapi::Api;

/// One value for each operation of an API, by the index of the operation.
///
/// Invariant: there are as many values as the API has operations, and none is ever added or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerOperation<T>(Box<[T]>);

impl<T> PerOperation<T> {
    /// Computes the value of each operation from its index.
    pub(crate) fn new(api: &Api, value: impl FnMut(usize) -> T) -> Self {
        Self((0..api.operations.len()).map(value).collect())
    }

    /// The values, in the order of the operations.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The values, to change them.
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// The indexes of the operations whose values fulfill a condition.
    pub(crate) fn positions(&self, condition: impl Fn(&T) -> bool) -> impl Iterator<Item = usize> {
        let numbered = self.0.iter().enumerate();
        numbered.filter_map(move |(operation, value)| condition(value).then_some(operation))
    }

    /// The values without their API.
    pub(crate) fn into_vec(self) -> Vec<T> {
        self.0.into_vec()
    }
}

impl<T: Clone> PerOperation<T> {
    /// The same value for each operation.
    pub(crate) fn filled(api: &Api, value: T) -> Self {
        Self(vec![value; api.operations.len()].into())
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "indexes of operations come from the API that the values were made for"
)]
impl<T> Index<usize> for PerOperation<T> {
    type Output = T;

    fn index(&self, operation: usize) -> &T {
        &self.0[operation]
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "indexes of operations come from the API that the values were made for"
)]
impl<T> IndexMut<usize> for PerOperation<T> {
    fn index_mut(&mut self, operation: usize) -> &mut T {
        &mut self.0[operation]
    }
}

impl<'a, T> IntoIterator for &'a PerOperation<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
