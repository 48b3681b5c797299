"""Who is best, and whether these users can show it: paired tests, and what they say in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sprintrec.report.board import HEADLINE_METRIC, Board, Entry
from sprintrec.report.words import METRIC_NAMES, figure, joined, p_value, per_level, percent_more, range_of
from sprintrec.significance import Comparison, compare, holm

ACCEPTED = 0.05  # corrected p below which a difference counts as shown


@dataclass(frozen=True)
class PairedTest:
    """The reference against one other entry, user by user."""

    reference: Entry
    other: Entry
    comparison: Comparison  # reference minus other
    p: float  # of the permutation test, after Holm's correction over all tests made together

    @property
    def shown(self) -> bool:
        return self.p < ACCEPTED


@dataclass(frozen=True)
class Verdict:
    sentence: str
    detail: str

    def __str__(self) -> str:
        return f"{self.sentence} {self.detail}"


def paired_tests(board: Board, level: str, metric: str, reference: Entry | None = None) -> list[PairedTest]:
    """The reference (the best entry, unless named) against every other whose ranks were kept, best first."""
    ranked = board.ranked(level, metric)
    if not ranked:
        return []
    reference = reference or ranked[0]
    mine = reference.per_user(level, metric)
    if mine is None:
        return []
    others = [(entry, entry.per_user(level, metric)) for entry in ranked if entry is not reference]
    compared = [(entry, compare(mine, theirs)) for entry, theirs in others if theirs is not None]
    corrected = holm([comparison.p_permutation for _, comparison in compared])
    return [
        PairedTest(reference, entry, comparison, float(p))
        for (entry, comparison), p in zip(compared, corrected, strict=True)
    ]


def verdict(
    board: Board, tests: Sequence[PairedTest], level: str | None = None, metric: str = HEADLINE_METRIC
) -> Verdict:
    """What the tests of the best entry against the others allow to say."""
    level = level or board.headline
    ranked = board.ranked(level, metric)
    if not ranked:
        return Verdict(f"Nothing was measured {per_level(level)}.", "")
    if len(ranked) == 1:
        return _alone(board, ranked[0], level, metric)
    if len(tests) < len(ranked) - 1:
        return _untested(ranked, level, metric)
    equals = [test.other for test in tests if not test.shown]
    if equals:
        return _within_noise(board, ranked[0], equals, tests, level, metric)
    return _best(board, tests, level, metric)


def _alone(board: Board, entry: Entry, level: str, metric: str) -> Verdict:
    found = entry.figure(level, metric)
    sentence = f"{entry.label} reaches {METRIC_NAMES[metric]} {figure(found.mean)} {per_level(level)}."
    known = f" (95 % interval {range_of(found.interval)})" if found.interval else ""
    return Verdict(sentence, f"{board.users:,} users{known}. It stands alone: a verdict takes a second method.")


def _untested(ranked: Sequence[Entry], level: str, metric: str) -> Verdict:
    best, second = (f"{entry.label}, {figure(entry.figure(level, metric).mean)}" for entry in ranked[:2])
    return Verdict(
        f"{ranked[0].label} has the highest {METRIC_NAMES[metric]} {per_level(level)}.",
        f"{best}, against {second}; the ranks of every user were not all kept, "
        "so no paired test can say whether that is more than chance.",
    )


def _within_noise(
    board: Board, best: Entry, equals: Sequence[Entry], tests: Sequence[PairedTest], level: str, metric: str
) -> Verdict:
    named = joined([best.label, *(entry.label for entry in equals)])
    figures = joined([figure(entry.figure(level, metric).mean) for entry in (best, *equals)])
    nearest = next(test for test in tests if not test.shown)
    behind = [test.other.label for test in tests if test.shown]
    parts = [f"{METRIC_NAMES[metric]} {figures} {per_level(level)}: {_difference(nearest)} that may be chance."]
    if behind:
        parts.append(f"{best.label} is ahead of {joined(behind)} ({_least(tests)}).")
    parts.append(_seeds([best, *equals]))
    return Verdict(f"No difference between {named} that these {board.users:,} users can show.", " ".join(parts))


def _best(board: Board, tests: Sequence[PairedTest], level: str, metric: str) -> Verdict:
    best, second = tests[0].reference, tests[0].other
    mine, theirs = (entry.figure(level, metric).mean for entry in (best, second))
    gain = f", {percent_more(mine, theirs)}" if theirs else ""
    return Verdict(
        f"{best.label} is best {per_level(level)}.",
        f"{METRIC_NAMES[metric]} {figure(mine)} against {figure(theirs)} of {second.label}, the best other{gain}: "
        f"{_difference(tests[0])}, over {board.users:,} users. {_seeds([best, second])}",
    )


def _difference(test: PairedTest) -> str:
    gap = test.comparison.difference
    interval = range_of((gap.low, gap.high))
    return f"a difference of {figure(gap.mean)} (95 % interval {interval}, {p_value(test.p)})"


def _least(tests: Sequence[PairedTest]) -> str:
    """The weakest of the accepted tests, which all others pass as well."""
    return p_value(max(test.p for test in tests if test.shown))


def _seeds(entries: Sequence[Entry]) -> str:
    counts = sorted({entry.seeds for entry in entries})
    if counts == [1]:
        return "One seed each: how far seeds move these figures was not measured."
    return f"Means over {'/'.join(map(str, counts))} seeds."
