from __future__ import annotations

import itertools

import numpy as np
import pytest

from sprintrec.codes.assign import assign, project, reconstruct
from sprintrec.codes.unique import codes_of_new_items, make_unique
from sprintrec.errors import Mistake
from sprintrec.records import Codes


def tokenizer_of(kind: str, digits: int, tokens: int, dimensions: int, seed: int = 0) -> dict[str, np.ndarray]:
    width = dimensions // digits if kind == "parts" else dimensions
    generator = np.random.default_rng(seed)
    return {
        kind: generator.standard_normal((digits, tokens, width)).astype(np.float32) / np.sqrt(dimensions),
        "layers.0.weight": np.eye(dimensions, dtype=np.float32),
        "layers.0.bias": np.zeros(dimensions, np.float32),
    }


def codes_of(tokenizer: dict[str, np.ndarray], vectors: np.ndarray) -> Codes:
    digits, tokens, _ = tokenizer.get("parts", tokenizer.get("levels")).shape  # type: ignore[union-attr]
    return Codes("made", assign(tokenizer, vectors), (tokens,) * digits, tokenizer)


def crowded(items: int, dimensions: int, clusters: int, seed: int = 0) -> np.ndarray:
    """Vectors in a few dense clusters, so that codes collide."""
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((clusters, dimensions))
    return (
        centres[generator.integers(0, clusters, items)] + 0.1 * generator.standard_normal((items, dimensions))
    ).astype(np.float32)


def one_by_one(codes: Codes, vectors: np.ndarray) -> np.ndarray:
    """The rule, by trying every code there is for every item."""
    every = np.array(list(itertools.product(*map(range, codes.sizes))))
    points = project(codes.tokenizer, vectors).astype(np.float64)
    stands_for = reconstruct(codes.tokenizer, every).astype(np.float64)
    distance = ((points[:, None] - stands_for[None]) ** 2).sum(axis=2)
    place = {tuple(code): number for number, code in enumerate(every.tolist())}
    own = [place[tuple(code)] for code in codes.table.tolist()]
    order = sorted(range(len(own)), key=lambda row: (distance[row, own[row]], row))
    holder: dict[int, int] = {}
    movers = []
    for row in order:
        if own[row] in holder:
            movers.append(row)
        else:
            holder[own[row]] = row
    for row in movers:
        free = next(number for number in np.argsort(distance[row], kind="stable").tolist() if number not in holder)
        holder[free] = row
    found = np.empty_like(codes.table)
    for number, row in holder.items():
        found[row] = every[number]
    return found


@pytest.mark.parametrize(
    ("digits", "tokens", "items", "clusters"),
    [(3, 6, 120, 5), (2, 16, 200, 3), (1, 64, 60, 4), (4, 4, 256, 7), (3, 8, 40, 40)],
)
def test_codes_of_parts_against_trying_all(digits: int, tokens: int, items: int, clusters: int) -> None:
    tokenizer = tokenizer_of("parts", digits, tokens, 12 if digits != 1 else 6)
    vectors = crowded(items, 12 if digits != 1 else 6, clusters)
    codes = codes_of(tokenizer, vectors)
    assert len(codes.distinct()[0]) < items
    unique = make_unique(codes, vectors)
    np.testing.assert_array_equal(unique.table, one_by_one(codes, vectors))


def test_codes_of_levels_against_trying_all() -> None:
    # 216 codes: the beam holds all of them as soon as it is widened once, and nearly all before.
    tokenizer = tokenizer_of("levels", 3, 6, 8)
    vectors = crowded(150, 8, 4)
    codes = codes_of(tokenizer, vectors)
    unique, tried = make_unique(codes, vectors).table, one_by_one(codes, vectors)
    assert len(np.unique(unique, axis=0)) == 150
    assert (unique == tried).all(axis=1).mean() > 0.9


def test_whoever_is_alone_or_nearest_stays() -> None:
    vectors = crowded(300, 12, 20)
    codes = codes_of(tokenizer_of("parts", 3, 16, 12), vectors)
    unique = make_unique(codes, vectors)
    stays = (unique.table == codes.table).all(axis=1)
    assert stays.sum() == len(codes.distinct()[0])
    assert {tuple(row) for row in codes.table} == {tuple(row) for row in codes.table[stays]}


def test_many_equal_items_fill_the_nearest_codes_in_order_of_rows() -> None:
    tokenizer = tokenizer_of("parts", 2, 32, 8)
    vectors = np.concatenate([np.zeros((400, 8)), crowded(30, 8, 30)]).astype(np.float32)
    codes = codes_of(tokenizer, vectors)
    unique = make_unique(codes, vectors)
    assert len(np.unique(unique.table, axis=0)) == 430
    np.testing.assert_array_equal(unique.table, one_by_one(codes, vectors))
    distance = ((reconstruct(tokenizer, unique.table[:400]) - project(tokenizer, vectors[:1])) ** 2).sum(axis=1)
    assert (np.diff(distance) > -1e-6).all()


def test_a_full_code_space_is_filled_to_the_last() -> None:
    vectors = crowded(16, 4, 2)
    codes = codes_of(tokenizer_of("parts", 2, 4, 4), vectors)
    assert len(np.unique(make_unique(codes, vectors).table, axis=0)) == 16


def test_new_items_take_the_nearest_code_nobody_has() -> None:
    vectors = crowded(100, 12, 30)
    codes = make_unique(codes_of(tokenizer_of("parts", 3, 8, 12), vectors), vectors)
    # Where its own code is free an item gets that; an item like a known one gets another.
    new = np.concatenate([crowded(20, 12, 20, seed=9), vectors[:3]])
    found = codes_of_new_items(codes, new)
    known, own = {tuple(code) for code in codes.table.tolist()}, assign(codes.tokenizer, new)
    assert len({tuple(code) for code in found.tolist()} - known) == 23
    free = [row for row in range(23) if tuple(own[row].tolist()) not in known]
    first = {tuple(own[row].tolist()): row for row in reversed(free)}.values()
    np.testing.assert_array_equal(found[sorted(first)], own[sorted(first)])
    assert codes_of_new_items(codes, new[:0]).shape == (0, 3)


def test_new_items_without_room_are_a_mistake() -> None:
    vectors = crowded(15, 4, 2)
    codes = make_unique(codes_of(tokenizer_of("parts", 2, 4, 4), vectors), vectors)
    assert len(codes_of_new_items(codes, vectors[:1])) == 1
    with pytest.raises(Mistake, match="17 items can't each have"):
        codes_of_new_items(codes, vectors[:2])


def test_no_room_is_a_mistake() -> None:
    vectors = crowded(17, 4, 2)
    with pytest.raises(Mistake, match=r"17 items can't each have a code.*4 x 4 = 16"):
        make_unique(codes_of(tokenizer_of("parts", 2, 4, 4), vectors), vectors)


def test_a_table_without_a_tokenizer_is_a_mistake() -> None:
    with pytest.raises(Mistake, match="without a tokenizer"):
        make_unique(Codes("paper", np.zeros((3, 2), np.int32), (4, 4)), np.zeros((3, 2)))


def test_nothing_to_do() -> None:
    vectors = np.eye(4, dtype=np.float32)
    tokenizer = {"parts": np.eye(4, dtype=np.float32)[None]}
    codes = codes_of(tokenizer, vectors)
    unique = make_unique(codes, vectors)
    np.testing.assert_array_equal(unique.table, codes.table)
    assert unique.name == "made-unique"


def test_many_digits_and_a_large_catalogue() -> None:
    vectors = np.repeat(crowded(1500, 16, 300), 4, axis=0)
    steps: list[tuple[int, int]] = []
    codes = codes_of(tokenizer_of("parts", 16, 64, 16), vectors)
    unique = make_unique(codes, vectors, lambda done, total: steps.append((done, total)))
    assert len(np.unique(unique.table, axis=0)) == 6000
    assert steps[-1] == (4500, 4500)
