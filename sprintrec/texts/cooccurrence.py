"""Item vectors where there is no text: what is used close to each other lies close to each other.

Two events of one user at most WINDOW steps apart are a pair. Pairs are weighed by how much more often
they occur than chance would have it (positive pointwise mutual information, Levy and Goldberg 2014),

    PPMI(i, j) = max(0, log (n_ij n / (n_i n_j))),    n_i = sum_j n_ij,  n = sum_i n_i

and the symmetric matrix of these is cut to its main positive directions U, so that the inner product of
two rows of U sqrt(S) is PPMI as nearly as d numbers allow. Rows of length one; an item that never occurs
in a pair has zeros. To be called with training events alone.

Memory is bounded by PAIRS, however long the log and large the catalogue: where distinct pairs are more,
the rarest are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sprintrec.records import Histories

NAME = "cooccurrence"
WINDOW = 5
DIMENSIONS = 128
PAIRS = 12_000_000  # distinct pairs kept at most: 1.5 GB at the peak
EVENTS_AT_ONCE = 1_000_000
EXTRA_DIRECTIONS, PASSES = 16, 4  # of the randomised search for the main directions
PRODUCTS_AT_ONCE = 1 << 22

Progress = Callable[[int, int], None]


def cooccurrence_vectors(
    events: Histories,
    item_count: int,
    window: int = WINDOW,
    dimensions: int = DIMENSIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> np.ndarray:
    """Unit vectors, float32 [items, at most ``dimensions``]."""
    first, second, count = pair_counts(events, item_count, window)
    matrix = SymmetricMatrix(first, second, ppmi(first, second, count, item_count), item_count)
    vectors = _positive_part(matrix, min(dimensions, item_count), seed, progress)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    # What is left of items without pairs is rounding, not a direction.
    seen = length > 1e-6 * max(float(length.max(initial=0)), 1e-30)
    return np.where(seen, vectors / np.where(seen, length, 1), 0).astype(np.float32)


def pair_counts(
    events: Histories, item_count: int, window: int, most_pairs: int = PAIRS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of different items (first < second) and how often each occurs, in order of the pair."""
    pairs, counts = np.zeros(0, np.int64), np.zeros(0, np.int32)
    for items, users in _runs_of_users(events):
        found = [_pairs_at(items, users, step, item_count) for step in range(1, window + 1)]
        new, new_counts = np.unique(np.concatenate(found), return_counts=True)
        pairs, counts = _merged(pairs, counts, new, new_counts.astype(np.int32))
        if len(pairs) > most_pairs:
            kept = _most_frequent(pairs, counts, most_pairs * 3 // 4)
            pairs, counts = pairs[kept], counts[kept]
    first, second = np.divmod(pairs, item_count)
    return first.astype(np.int32), second.astype(np.int32), counts


def ppmi(first: np.ndarray, second: np.ndarray, count: np.ndarray, item_count: int) -> np.ndarray:
    """The PPMI of every pair, float32."""
    total_of = np.bincount(first, count, item_count) + np.bincount(second, count, item_count)
    chance = total_of[first] * total_of[second] / max(total_of.sum(), 1)
    return np.log(np.maximum(count / chance, 1)).astype(np.float32)


class SymmetricMatrix:
    """A sparse symmetric matrix without diagonal that can be multiplied: all that numpy lacks for this."""

    def __init__(self, first: np.ndarray, second: np.ndarray, values: np.ndarray, size: int) -> None:
        kept = values > 0
        row = np.concatenate([first[kept], second[kept]])
        order = np.argsort(row, kind="stable")
        self.columns = np.concatenate([second[kept], first[kept]])[order]
        self.values = np.concatenate([values[kept], values[kept]])[order]
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=size))])

    def times(self, dense: np.ndarray) -> np.ndarray:
        """matrix @ dense, some rows at a time."""
        product = np.zeros_like(dense)
        start, size = 0, len(self.offsets) - 1
        while start < size:
            most = self.offsets[start] + max(PRODUCTS_AT_ONCE // dense.shape[1], 1)
            stop = max(start + 1, int(np.searchsorted(self.offsets, most, side="right")) - 1)
            filled = start + np.flatnonzero(np.diff(self.offsets[start : stop + 1]))
            entries = slice(self.offsets[start], self.offsets[stop])
            if len(filled):
                parts = dense[self.columns[entries]] * self.values[entries, None]
                product[filled] = np.add.reduceat(parts, self.offsets[filled] - self.offsets[start], axis=0)
            start = stop
        return product


def _positive_part(matrix: SymmetricMatrix, dimensions: int, seed: int, progress: Progress | None) -> np.ndarray:
    """U sqrt(S) of the largest positive eigenvalues, by subspace iteration (Halko et al. 2011)."""
    size = len(matrix.offsets) - 1
    width = min(dimensions + EXTRA_DIRECTIONS, size)
    basis = np.random.default_rng(seed).standard_normal((size, width)).astype(np.float32)
    for step in range(PASSES):
        basis, _ = np.linalg.qr(matrix.times(basis))
        if progress:
            progress(step + 1, PASSES + 1)
    values, axes = np.linalg.eigh((basis.T @ matrix.times(basis)).astype(np.float64))
    if progress:
        progress(PASSES + 1, PASSES + 1)
    largest = np.argsort(-values, kind="stable")[:dimensions]
    return basis @ (axes[:, largest] * np.sqrt(np.maximum(values[largest], 0))).astype(np.float32)


def _runs_of_users(events: Histories) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Items and users of some whole histories at a time."""
    start = 0
    while start < len(events):
        most = events.offsets[start] + EVENTS_AT_ONCE
        stop = max(start + 1, int(np.searchsorted(events.offsets, most, side="right")) - 1)
        part = events.slice(start, stop)
        yield part.items.astype(np.int64), part.row_of_each()
        start = stop


def _pairs_at(items: np.ndarray, users: np.ndarray, step: int, item_count: int) -> np.ndarray:
    """Every pair of different items so many steps apart in one history, as one number each."""
    left, right = items[:-step], items[step:]
    kept = (users[:-step] == users[step:]) & (left != right)
    return np.minimum(left, right)[kept] * item_count + np.maximum(left, right)[kept]


def _most_frequent(pairs: np.ndarray, counts: np.ndarray, most: int) -> np.ndarray:
    """Which pairs to keep; among the last equally frequent a fixed pseudo-random choice, fair to all items."""
    border = np.partition(counts, len(counts) - most)[len(counts) - most]
    kept = counts > border
    equal = np.flatnonzero(counts == border)
    mixed = pairs[equal].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    kept[equal[np.argsort(mixed, kind="stable")[: most - int(kept.sum())]]] = True
    return kept


def _merged(
    pairs: np.ndarray, counts: np.ndarray, new: np.ndarray, new_counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The sum of two counts, both sorted by pair."""
    place = np.searchsorted(pairs, new)
    known = np.zeros(len(new), bool)
    inside = place < len(pairs)
    known[inside] = pairs[place[inside]] == new[inside]
    counts = counts.copy()
    counts[place[known]] += new_counts[known]
    return np.insert(pairs, place[~known], new[~known]), np.insert(counts, place[~known], new_counts[~known])
