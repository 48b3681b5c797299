"""The part of the page that says how good each entry is: per level, against each other, over seeds, in print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sprintrec.report.board import HEADLINE_METRIC, LEVELS, Board, Entry
from sprintrec.report.document import NOTHING, Head, Markup, number, section, table, tag, together
from sprintrec.report.figures import Mark, axis_to, strip, strip_axis
from sprintrec.report.published import Published, published
from sprintrec.report.verdict import PairedTest
from sprintrec.report.words import (
    LEVEL_TITLES,
    METRIC_NAMES,
    METRICS_SHOWN,
    distinct_codes,
    figure,
    p_value,
    per_level,
    percent_more,
    range_of,
    signed,
)


def name_of(entry: Entry, *more: str) -> Markup:
    """The method, beneath it the recipe where that says more, and how many seeds where there are several."""
    method, recipe = entry.row["method"], entry.row["recipe"]
    under: list[object] = [together(recipe.split("+"), Markup("<wbr>+"))] if recipe != method else []
    under += [f"{entry.seeds} seeds"] if entry.seeds > 1 else []
    beneath = together([*under, *more], Markup(" · "))
    return together([method, tag("small", beneath)]) if beneath else together([method])


def named_panel(entry: Entry, drawn: Markup) -> Markup:
    return tag("div", tag("p", name_of(entry)), drawn)


def panels(caption: str, parts: Sequence[Markup]) -> Markup:
    """Small charts side by side."""
    return tag("figure", tag("figcaption", caption), tag("div", *parts, class_="panels"))


def results(board: Board) -> Iterator[Markup]:
    levels = sorted(LEVELS, key=lambda level: level != board.headline)
    tables = [level_table(board, level) for level in levels if board.ranked(level)]
    note = (
        f"{METRIC_NAMES[HEADLINE_METRIC]} of every method, three ways of counting on one scale. "
        "Tables below: R share of users whose target is among the first, N the same weighted by its place, "
        "MRR the mean of one over its place; the best of a column is bold, 95 % intervals stand beneath."
    )
    yield section("Results", note, overview(board), *tables)


def overview(board: Board) -> Markup:
    """A dot plot whose rows are table rows: the figure and its numbers are one."""
    metric, entries = HEADLINE_METRIC, board.ranked(board.headline)
    levels = [level for level in LEVELS if board.ranked(level)]
    figures = {(entry.label, level): entry.figure(level, metric) for level in levels for entry in board.ranked(level)}
    axis = axis_to(max([found.mean, *(found.interval or ())][-1] for found in figures.values()))

    def row(entry: Entry) -> list[object]:
        found = [(level, figures.get((entry.label, level))) for level in levels]
        marks = [Mark(one.mean, _kind(level, board), one.interval) for level, one in found if one]
        spoken = ", ".join(f"{figure(one.mean)} {per_level(level)}" for level, one in found if one)
        drawn = strip(marks, axis, f"{METRIC_NAMES[metric]} of {entry.label}: {spoken}")
        return [name_of(entry), drawn, *(number(one.mean, figure(one.mean)) if one else NOTHING for _, one in found)]

    heads = [Head("Method", text=True), Head(strip_axis(axis), class_="plot")]
    heads += [Head(_keyed(level, board)) for level in levels]
    caption = f"{METRIC_NAMES[metric]} on test, {board.users:,} users"
    return table(caption, [heads], [row(entry) for entry in entries])


def _kind(level: str, board: Board) -> str:
    return "main" if level == board.headline else "code" if level == "code" else "other"


def _keyed(level: str, board: Board) -> Markup:
    """A column's heading with the mark that stands for it."""
    words = {"item": "per item", "item_seen_kept": "seen kept", "code": "per code"}[level]
    kind = _kind(level, board)
    shape = (
        tag("path", d="M5 1 9 5 5 9 1 5Z", class_="mark code")
        if kind == "code"
        else tag("circle", cx=5, cy=5, r=3.5, class_=f"mark {kind}")
    )
    return together([tag("svg", shape, width=10, height=10, class_="key", aria_hidden="true"), " ", words])


def level_table(board: Board, level: str) -> Markup:
    """All metrics shown, with intervals, of everything measured at a level."""
    entries = board.ranked(level)
    best = {metric: max(entry.figure(level, metric).mean for entry in entries) for metric in METRICS_SHOWN}

    def row(entry: Entry) -> list[object]:
        figures = [(metric, entry.figure(level, metric)) for metric in METRICS_SHOWN]
        distinct = [f"{entry.row['codes']['distinct']:,} codes"] if level == "code" else []
        return [
            name_of(entry, *distinct),
            *(
                number(found.mean, figure(found.mean), interval_of(found.interval), found.mean == best[metric])
                for metric, found in figures
            ),
        ]

    heads = [Head("Method", text=True)]
    heads += [Head(METRIC_NAMES[metric], class_="gap" if metric.startswith("recall") else None) for metric in best]
    return table(LEVEL_TITLES[level], [heads], [row(entry) for entry in entries], _level_note(board, level))


def _level_note(board: Board, level: str) -> str | None:
    if level != "code":
        return None
    tables = {entry.row["codes"]["name"]: distinct_codes(entry.row["codes"]) for entry in board.ranked(level)}
    counted = "; ".join(f"{name}: {count}" for name, count in tables.items())
    return (
        f"A hit when the target's code is found, as the literature counts. {counted}. The fewer codes, the easier "
        "the question: figures on different code tables can't be compared, nor with those per item."
    )


def interval_of(interval: tuple[float, float] | None) -> str:
    """As it stands beneath its figure."""
    return "" if interval is None else f"{figure(interval[0])}–{figure(interval[1])}"


# ---- against each other --------------------------------------------------------------------------


def differences(board: Board, tests: Sequence[PairedTest]) -> Iterator[Markup]:
    if not tests:
        return
    level, metric = board.headline, METRIC_NAMES[HEADLINE_METRIC]
    best = tests[0].reference.label
    note = (
        f"{best} minus each other method, user by user: {metric} {per_level(level)}. p of a paired permutation test, "
        f"corrected after Holm for {len(tests)} {'test' if len(tests) == 1 else 'tests'} made together. "
        "That the best was picked by these same figures flatters its lead a little."
    )
    heads = [
        *(Head("Against", text=True), Head("Difference"), Head("95 % interval"), Head("p, corrected")),
        *(Head("p of a t-test"), Head("better for"), Head("equal for"), Head("worse for")),
    ]
    rows = [[name_of(test.other), *_test_cells(test)] for test in tests]
    foot = f"Better, equal and worse: users for whom {best} places the target higher, alike and lower within ten."
    yield section("Differences", note, table(f"{best} against the others", [heads], rows, foot))


def _test_cells(test: PairedTest) -> Iterator[object]:
    found = test.comparison
    yield number(found.difference.mean, signed(found.difference.mean), best=test.shown)
    yield range_of((found.difference.low, found.difference.high))
    yield number(test.p, p_value(test.p).removeprefix("p ").removeprefix("= "))
    yield number(found.p_t, p_value(found.p_t).removeprefix("p ").removeprefix("= "))
    yield from (number(count, f"{count:,}") for count in (found.wins, found.ties, found.losses))


# ---- over seeds ----------------------------------------------------------------------------------


def seeds(board: Board) -> Iterator[Markup]:
    several = [entry for entry in board.ranked(board.headline) if entry.seeds > 1]
    if not several:
        return
    metrics = ("ndcg@10", "recall@10")
    heads = [Head("Method", text=True)]
    heads += [Head(f"{METRIC_NAMES[metric]} {what}") for metric in metrics for what in ("mean", "± deviation", "range")]
    rows = [[name_of(entry), *_spread_cells(entry, board.headline, metrics)] for entry in several]
    note = (
        "The same recipe begun from other random numbers. Seeds tell how steady training is, not how sure a "
        "figure is: five seeds are not five times the users."
    )
    yield section("Seeds", note, table("Spread over seeds", [heads], rows))


def _spread_cells(entry: Entry, level: str, metrics: Sequence[str]) -> Iterator[object]:
    for metric in metrics:
        found, each = entry.figure(level, metric), [run.row[level][metric] for run in entry.runs]
        yield number(found.mean, figure(found.mean))
        yield number(found.deviation, figure(found.deviation or 0.0))
        yield f"{figure(min(each))}–{figure(max(each))}"


# ---- in print ------------------------------------------------------------------------------------


def in_print(board: Board) -> Iterator[Markup]:
    found = [
        (entry, one) for entry in board.entries for one in published(board, entry.row["method"]) if entry.has(one.level)
    ]
    if not found:
        return
    metrics = [metric for metric in METRICS_SHOWN if any(metric in one.values for _, one in found)]
    heads = [Head("Method", text=True), Head("Counted", text=True), *(Head(METRIC_NAMES[m]) for m in metrics)]
    rows = [[name_of(entry), _counted(one), *(_beside(entry, one, m) for m in metrics)] for entry, one in found]
    note = (
        "Ours, beneath it the published figure and by how much ours differs. Printed figures come without "
        "intervals, often from another way of reading the log, and say little on what is excluded."
    )
    sources = "; ".join(dict.fromkeys(one.source for _, one in found))
    yield section("Published", note, table("Ours and published", [heads], rows, f"Published: {sources}."))


def _counted(one: Published) -> str:
    return per_level(one.level)


def _beside(entry: Entry, one: Published, metric: str) -> Markup:
    printed = one.values.get(metric)
    if printed is None:
        return NOTHING
    ours = entry.figure(one.level, metric).mean
    return number(ours, figure(ours), f"{figure(printed)} · {percent_more(ours, printed)}")
