//! Sets of tokens with their minima, for `dedupdb.datasketch`.

use std::sync::{Arc, Mutex};

use dedupdb::sketching::{Family, ShingleSet, Signature, Signer, SlotWidth};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyType};

use crate::errors::raised;
use crate::watch::lock;

/// How many tokens may wait to be sorted, beside as many as are sorted.
const WAITING: usize = 16;

/// The hash of a token, which is bytes or gives them: the first 64 bits of BLAKE3.
#[pyfunction]
pub(crate) fn token_hash(token: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(bytes) = token.cast::<PyBytes>() {
        return Ok(hash(bytes.as_bytes()));
    }
    let bytes = PyMemoryView::from(token)?.call_method0("tobytes")?;
    Ok(hash(bytes.cast::<PyBytes>()?.as_bytes()))
}

fn hash(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let (words, _) = hash.as_bytes().as_chunks::<8>();
    u64::from_le_bytes(words[0])
}

/// The hash of a token by a function of the user.
fn hashed(function: &Bound<'_, PyAny>, token: &Bound<'_, PyAny>) -> PyResult<u64> {
    let number = function.call1((token,))?;
    number.extract().map_err(|error: PyErr| {
        if !error.is_instance_of::<PyOverflowError>(number.py()) {
            return error;
        }
        PyValueError::new_err(format!(
            "hashfunc returned {number}, which does not fit into 64 bits"
        ))
    })
}

/// The signer of the last set that was made: most sets have the same.
static SIGNER: Mutex<Option<Arc<Signer>>> = Mutex::new(None);

fn signer(py: Python<'_>, permutations: u32, seed: u64) -> PyResult<Arc<Signer>> {
    let mut last = lock(&SIGNER);
    if let Some(signer) = &*last
        && (signer.permutations(), signer.seed()) == (permutations, seed)
    {
        return Ok(signer.clone());
    }
    let (family, width) = (Family::default(), SlotWidth::default());
    let made = Signer::new(family, seed, permutations, width);
    let made = Arc::new(made.map_err(|error| raised(py, &error))?);
    *last = Some(made.clone());
    Ok(made)
}

/// The permutations, the seed and the tokens of a set.
type SetState<'py> = (u32, u64, Bound<'py, PyBytes>);

/// A set of tokens, by their hashes, and its minimum under each permutation.
#[pyclass(module = "dedupdb._native")]
pub(crate) struct TokenSet {
    signer: Arc<Signer>,
    /// Distinct and ascending up to `sorted`; the others wait to be sorted.
    tokens: Arc<Vec<u64>>,
    sorted: usize,
    /// Those of merged sets, which wait, too, and how many they are.
    merged: Vec<Arc<Vec<u64>>>,
    merged_tokens: usize,
    minima: Vec<u32>,
    /// The minima as `NumPy`'s array, once somebody asked.
    array: Option<Py<PyAny>>,
}

// Nothing calls into Python while a set is borrowed, so no other borrow meets it.
#[pymethods]
impl TokenSet {
    #[new]
    #[pyo3(signature = (permutations, seed, tokens=None))]
    fn new(
        py: Python<'_>,
        permutations: u32,
        seed: u64,
        tokens: Option<&[u8]>,
    ) -> PyResult<TokenSet> {
        let mut set = TokenSet {
            signer: signer(py, permutations, seed)?,
            tokens: Arc::default(),
            sorted: 0,
            merged: Vec::new(),
            merged_tokens: 0,
            minima: vec![u32::MAX; permutations as usize],
            array: None,
        };
        if let Some(tokens) = tokens {
            set.extend(&words(tokens)?);
        }
        Ok(set)
    }

    #[getter]
    pub(crate) fn seed(&self) -> u64 {
        self.signer.seed()
    }

    /// Adds tokens, hashed by a function, or by ``token_hash`` if it is None.
    #[pyo3(signature = (tokens, function=None))]
    fn update(
        slf: &Bound<'_, Self>,
        tokens: &Bound<'_, PyAny>,
        function: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let hash = |token: PyResult<Bound<'_, PyAny>>| match function {
            Some(function) => hashed(function, &token?),
            None => token_hash(&token?),
        };
        let hashes: Vec<u64> = tokens.try_iter()?.map(hash).collect::<PyResult<_>>()?;
        slf.borrow_mut().extend(&hashes);
        Ok(())
    }

    /// The Jaccard similarity of both sets; 1 of two that are empty.
    fn jaccard(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> f64 {
        jaccard(&sorted(slf), &sorted(other))
    }

    /// Adds the tokens of another set.
    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) {
        if slf.is(other) {
            return;
        }
        let tokens = sorted(other);
        let mut set = slf.borrow_mut();
        set.lower(&other.borrow().minima);
        set.merged_tokens += tokens.len();
        set.merged.push(tokens);
        set.sort_if_many_wait();
    }

    fn copy(&self, py: Python<'_>) -> TokenSet {
        TokenSet {
            signer: self.signer.clone(),
            tokens: self.tokens.clone(),
            sorted: self.sorted,
            merged: self.merged.clone(),
            merged_tokens: self.merged_tokens,
            minima: self.minima.clone(),
            array: self.array.as_ref().map(|array| array.clone_ref(py)),
        }
    }

    fn clear(&mut self) {
        self.tokens = Arc::default();
        self.sorted = 0;
        self.merged.clear();
        self.merged_tokens = 0;
        self.minima.fill(u32::MAX);
        self.array = None;
    }

    /// The minima, as a `NumPy` array that cannot be changed.
    fn minima<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Some(array) = &slf.borrow().array {
            return Ok(array.bind(py).clone());
        }
        let bytes = bytes_of(
            py,
            slf.borrow().minima.iter().copied().map(u32::to_le_bytes),
        )?;
        let array = array_of(bytes.into_any())?;
        slf.borrow_mut().array = Some(array.clone().unbind());
        Ok(array)
    }

    /// The minima, as a `NumPy` array of its own.
    fn digest<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let set = slf.borrow();
        let fill = |bytes: &mut [u8]| {
            let (places, _) = bytes.as_chunks_mut::<4>();
            for (place, number) in places.iter_mut().zip(&set.minima) {
                *place = number.to_le_bytes();
            }
            Ok(())
        };
        let bytes = PyByteArray::new_with(slf.py(), set.minima.len() * size_of::<u32>(), fill)?;
        array_of(bytes.into_any())
    }

    fn __len__(slf: &Bound<'_, Self>) -> usize {
        sorted(slf).len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, SetState<'py>)> {
        let bytes = bytes_of(slf.py(), sorted(slf).iter().copied().map(u64::to_le_bytes))?;
        let signer = slf.borrow().signer.clone();
        Ok((
            slf.get_type(),
            (signer.permutations(), signer.seed(), bytes),
        ))
    }
}

impl TokenSet {
    fn extend(&mut self, tokens: &[u64]) {
        let shingles = ShingleSet::from_ids(tokens);
        let minima = self.signer.minima(shingles.as_slice());
        self.lower(&minima);
        Arc::make_mut(&mut self.tokens).extend_from_slice(tokens);
        self.sort_if_many_wait();
    }

    /// The number of tokens that wait to be sorted.
    fn waiting(&self) -> usize {
        self.tokens.len() - self.sorted + self.merged_tokens
    }

    fn sort_if_many_wait(&mut self) {
        if self.waiting() > self.sorted + WAITING {
            self.sort();
        }
    }

    fn lower(&mut self, minima: &[u32]) {
        self.array = None;
        for (own, other) in self.minima.iter_mut().zip(minima) {
            *own = (*own).min(*other);
        }
    }

    #[expect(
        clippy::stable_sort_primitive,
        reason = "it merges what is sorted already: the tokens so far, and those of each merged set"
    )]
    fn sort(&mut self) {
        let tokens = Arc::make_mut(&mut self.tokens);
        tokens.reserve(self.merged_tokens);
        for merged in self.merged.drain(..) {
            tokens.extend_from_slice(&merged);
        }
        self.merged_tokens = 0;
        tokens.sort();
        tokens.dedup();
        self.sorted = tokens.len();
    }

    pub(crate) fn signature(&self) -> Signature {
        self.signer.sign_minima(self.minima.clone())
    }
}

/// The tokens of a set, distinct and ascending.
pub(crate) fn sorted(set: &Bound<'_, TokenSet>) -> Arc<Vec<u64>> {
    let mut set = set.borrow_mut();
    if set.waiting() > 0 {
        set.sort();
    }
    set.tokens.clone()
}

/// The Jaccard similarity of two sets, distinct and ascending; 1 of two that are empty.
pub(crate) fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    if a == b {
        return 1.0;
    }
    let (mut at_a, mut at_b, mut common) = (0, 0, 0);
    while at_a < a.len() && at_b < b.len() {
        let (x, y) = (a[at_a], b[at_b]);
        common += usize::from(x == y);
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    common as f64 / (a.len() + b.len() - common) as f64
}

/// A `NumPy` array of the numbers of 32 bits in these bytes, which is written to if they can be.
fn array_of(bytes: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = bytes.py();
    let function = ARRAY.import(py, "numpy", "frombuffer")?;
    // NumPy takes as long to read the name of a type as to make the array.
    let named = || -> PyResult<Py<PyAny>> {
        let numpy = py.import("numpy")?;
        Ok(numpy.call_method1("dtype", ("<u4",))?.unbind())
    };
    function.call1((bytes, TYPE.get_or_try_init(py, named)?))
}

/// The bytes of numbers, one after another.
pub(crate) fn bytes_of<const N: usize>(
    py: Python<'_>,
    numbers: impl ExactSizeIterator<Item = [u8; N]>,
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, numbers.len() * N, |bytes| {
        let (places, _) = bytes.as_chunks_mut::<N>();
        for (place, number) in places.iter_mut().zip(numbers) {
            *place = number;
        }
        Ok(())
    })
}

/// Little-endian numbers of 64 bits.
pub(crate) fn words(bytes: &[u8]) -> PyResult<Vec<u64>> {
    match bytes.as_chunks::<8>() {
        (words, []) => Ok(words.iter().copied().map(u64::from_le_bytes).collect()),
        _ => Err(PyValueError::new_err(
            "these bytes are not numbers of 64 bits",
        )),
    }
}
