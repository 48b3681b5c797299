"""One code per item: whoever shares a code moves to the nearest free one.

The rule, in two steps. A code shared by several items stays with the one it describes best (the least
squared distance between the item's point and the code's; of equals the first row). Then all others, best
described first, each take the free code nearest to them. So no item that could keep its code loses it, a
code that describes some item best is never given to another, and nothing is drawn at random.

"Nearest" is exact for codes made of parts (OPQ), where distances add up digit by digit, so that the
nearest T codes come out of sorted lists. For codes made of levels (RQ-KMeans, RQ-VAE), where they do not,
a beam of T takes its place.

Shapes: N items or movers, T candidates of each in order of distance, L digits, M tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from sprintrec.codes.assign import Tokenizer, codebooks_of, project, squared_errors
from sprintrec.errors import Mistake
from sprintrec.records import Codes

SUFFIX = "-unique"
FIRST_WIDTH, WIDER = 32, 8  # candidates looked at first, and how many times more where none is free
SUMS_AT_ONCE = 1 << 22

Progress = Callable[[int, int], None]


def make_unique(codes: Codes, vectors: np.ndarray, progress: Progress | None = None) -> Codes:
    """The same codes with every item on one of its own."""
    _check_room(codes, len(codes.table))
    movers, alike = _movers(codes, vectors)
    table = codes.table.copy()
    taken = set(_keys(np.delete(table, movers, axis=0)))
    moves = _free_codes(codes.tokenizer, vectors, movers, alike, taken)
    for done, (row, code) in enumerate(zip(movers, moves, strict=True), start=1):
        table[row] = code
        if progress and (done % 1000 == 0 or done == len(movers)):
            progress(done, len(movers))
    return Codes(codes.name + SUFFIX, table, codes.sizes, codes.tokenizer)


def codes_of_new_items(codes: Codes, vectors: np.ndarray) -> np.ndarray:
    """For items that came later, one after the other, the nearest code that nobody has yet, [new, L]."""
    _check_room(codes, len(codes.table) + len(vectors))
    rows = np.arange(len(vectors))
    found = list(_free_codes(codes.tokenizer, vectors, rows, rows, set(_keys(codes.table))))
    return np.array(found, np.int32).reshape(len(vectors), codes.table.shape[1])


def _check_room(codes: Codes, items: int) -> None:
    if not codes.tokenizer:
        raise Mistake(f"codes '{codes.name}' came without a tokenizer, so what is near a code is unknown")
    if math.prod(codes.sizes) < items:
        raise Mistake(
            f"{items} items can't each have a code of their own: codes '{codes.name}' has "
            f"{' x '.join(map(str, codes.sizes))} = {math.prod(codes.sizes)}; take more digits or more tokens"
        )


def _movers(codes: Codes, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the items that lose a shared code, in the order in which they choose another, and a number
    for each that is the same for items of the same vector, which follow each other."""
    distinct, code_of = codes.distinct()
    shared = np.flatnonzero(np.bincount(code_of, minlength=len(distinct))[code_of] > 1)
    code_of, theirs = code_of[shared], vectors[shared]
    first_alike = _first_alike(theirs)
    # Taken from the first of the same vector, because products of the same numbers may differ in their last bit.
    error = squared_errors(codes.tokenizer, theirs, codes.table[shared])[first_alike]
    best_first = np.lexsort((np.arange(len(shared)), error, code_of))
    keeps = np.concatenate([[True], code_of[best_first[1:]] != code_of[best_first[:-1]]])[: len(shared)]
    losers = best_first[~keeps]
    losers = losers[np.lexsort((losers, first_alike[losers], error[losers]))]
    return shared[losers], first_alike[losers]


def _first_alike(vectors: np.ndarray) -> np.ndarray:
    """For every row the first row that equals it."""
    rows = np.ascontiguousarray(vectors)
    as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).reshape(-1)
    _, first, number = np.unique(as_bytes, return_index=True, return_inverse=True)
    return first[number]


def _free_codes(
    tokenizer: Tokenizer, vectors: np.ndarray, movers: np.ndarray, alike: np.ndarray, taken: set[bytes]
) -> Iterator[np.ndarray]:
    """For one mover after the other the nearest code nobody has; it is added to ``taken``."""
    if not len(movers):
        return
    search = _Search(tokenizer)
    groups = np.split(movers, np.flatnonzero(alike[1:] != alike[:-1]) + 1)
    for start in range(0, len(groups), search.points_at_once):
        chunk = groups[start : start + search.points_at_once]
        points = project(tokenizer, vectors[np.array([group[0] for group in chunk], np.int64)])
        for group, point, candidates in zip(chunk, points, search.nearest(points, FIRST_WIDTH), strict=True):
            yield from islice(_free_around(point, candidates, search, taken), len(group))


def _free_around(
    point: np.ndarray, candidates_TL: np.ndarray, search: _Search, taken: set[bytes]
) -> Iterator[np.ndarray]:
    """The free codes around a point, nearest first."""
    while True:
        for code, key in zip(candidates_TL, _keys(candidates_TL), strict=True):
            if key not in taken:
                taken.add(key)
                yield code
        candidates_TL = search.nearest(point[None], len(candidates_TL) * WIDER)[0]


class _Search:
    """The T nearest codes of points: partial sums over the digits, of which the T least are kept."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        codebooks = codebooks_of(tokenizer).astype(np.float64)
        self.codebooks, self.in_parts = codebooks, "parts" in tokenizer
        self.norms_LM = (codebooks**2).sum(axis=2)
        # With levels |x - sum c|^2 has a mixed term for every two digits; parts have none.
        self.mixed_LLMM = None if self.in_parts else 2 * np.einsum("jad,lbd->jlab", codebooks, codebooks)
        self.points_at_once = max(1, SUMS_AT_ONCE // len(self._pairs(FIRST_WIDTH, FIRST_WIDTH)[0]))

    def nearest(self, points_ND: np.ndarray, width: int) -> np.ndarray:
        """int [N, T, L], nearest first; all codes there are, where they are fewer than the width."""
        costs_NLM = self._costs(points_ND.astype(np.float64))
        # With sorted tokens the T least sums of two digits lie among the pairs of _pairs.
        order_NLM = np.argsort(costs_NLM, axis=2, kind="stable") if self.in_parts else _identity(costs_NLM.shape)
        costs_NLM = np.take_along_axis(costs_NLM, order_NLM, axis=2)
        each = np.arange(len(points_ND))[:, None]
        sums_NT = np.zeros((len(points_ND), 1))
        codes_NTL = np.zeros((len(points_ND), 1, 0), order_NLM.dtype)
        for digit in range(costs_NLM.shape[1]):
            first, second = self._pairs(width, sums_NT.shape[1])
            sums = sums_NT[:, first] + costs_NLM[:, digit, second]
            if self.mixed_LLMM is not None:
                for before in range(digit):
                    sums += self.mixed_LLMM[before, digit][codes_NTL[:, first, before], second]
            best = _least(sums, width)
            sums_NT = np.take_along_axis(sums, best, axis=1)
            tokens = order_NLM[each, digit, second[best]]
            codes_NTL = np.concatenate([codes_NTL[each, first[best]], tokens[:, :, None]], axis=2)
        return codes_NTL

    def _costs(self, points_ND: np.ndarray) -> np.ndarray:
        """|c|^2 - 2 <x, c> of every token of every digit, [N, L, M]."""
        parts = np.split(points_ND, len(self.codebooks), axis=1) if self.in_parts else [points_ND] * len(self.codebooks)
        products = [part @ tokens.T for part, tokens in zip(parts, self.codebooks, strict=True)]
        return self.norms_LM - 2 * np.stack(products, axis=1)

    def _pairs(self, width: int, kept: int) -> tuple[np.ndarray, np.ndarray]:
        """Which of the kept sums meets which token. Of two sorted lists (i + 1)(j + 1) pairs are at most as far
        as pair (i, j), so pairs beyond the width cannot be among the least."""
        tokens = np.arange(self.codebooks.shape[1])
        counts = np.minimum(kept, width // (tokens + 1)) if self.in_parts else np.full(len(tokens), kept)
        ends = np.cumsum(counts)
        return np.arange(ends[-1]) - np.repeat(ends - counts, counts), np.repeat(tokens, counts)


def _least(sums: np.ndarray, width: int) -> np.ndarray:
    """Places of the least sums of every row, least first, equals in order of place."""
    if sums.shape[1] <= width:
        return np.argsort(sums, axis=1, kind="stable")
    best = np.sort(np.argpartition(sums, width - 1, axis=1)[:, :width], axis=1)
    return np.take_along_axis(best, np.argsort(np.take_along_axis(sums, best, axis=1), axis=1, kind="stable"), axis=1)


def _identity(shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(np.arange(shape[-1]), shape)


def _keys(codes: np.ndarray) -> list[bytes]:
    """Codes as bytes, which sets can hold."""
    packed = np.ascontiguousarray(codes, np.uint16).tobytes()
    width = 2 * codes.shape[1]
    return [packed[start : start + width] for start in range(0, len(packed), width)]
