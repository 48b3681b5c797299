"""The part of the page that says how entries behave: for whom they work, what they show, on which codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sprintrec.metrics import ABSENT, DEEPEST
from sprintrec.report.about import BAD_RANK, GOOD_RANK, Case, Cases
from sprintrec.report.board import Board, Entry
from sprintrec.report.document import NOTHING, Head, Markup, number, section, table, tag, together
from sprintrec.report.figures import Line, axis_to, panel
from sprintrec.report.results import interval_of, name_of, named_panel, panels
from sprintrec.report.words import figure, percent, shortened
from sprintrec.significance import wilson_interval

HISTORY_SHOWN = 5
ARROW = Markup(" <i>→</i> ")


# ---- for whom ------------------------------------------------------------------------------------


def slices(board: Board) -> Iterator[Markup]:
    entries = [entry for entry in board.ranked("item") if entry.row.get("slices")]
    if not entries:
        return
    note = (
        "The same users cut by how long their history is, and by how often their target occurs in training. "
        "R@10 per item, seen items excluded, with Wilson's 95 % interval; N@10 in the last line of a cell."
    )
    groupings = dict.fromkeys(name for entry in entries for name in entry.row["slices"])
    yield section("For whom", note, *(part for name in groupings for part in _slicing(entries, name)))


@dataclass(frozen=True)
class Slice:
    """Some of the users, and how well an entry serves them."""

    users: int
    recall: float
    ndcg: float
    interval: tuple[float, float]  # of the recall


def _slicing(entries: Sequence[Entry], name: str) -> Iterator[Markup]:
    """A panel and a row per entry; an entry that was cut otherwise is left out."""
    labels = next(list(entry.row["slices"][name]) for entry in entries if name in entry.row["slices"])
    entries = [entry for entry in entries if all(list(run.row["slices"].get(name, ())) == labels for run in entry.runs)]
    if not entries:
        return
    found = {entry.label: [_slice(entry, name, label) for label in labels] for entry in entries}
    y = axis_to(max(each.interval[1] for cells in found.values() for each in cells), 4)
    ticks = [(place + 0.5, label.replace(" to ", "–")) for place, label in enumerate(labels)]

    def one(entry: Entry) -> Markup:
        lines = [_slice_line(cells, label == entry.label) for label, cells in found.items()]
        each = [f"{label} {figure(cell.recall)}" for label, cell in zip(labels, found[entry.label], strict=True)]
        spoken = f"R@10 of {entry.label} by {name}: {', '.join(each)}"
        return named_panel(entry, panel(lines, y, ticks, len(labels), spoken))

    yield panels(f"R@10 by {name}", [one(entry) for entry in entries])
    counts = [f"{cell.users:,} users" for cell in found[entries[0].label]]
    titles = [tag("span", label, tag("small", count)) for label, count in zip(labels, counts, strict=True)]
    best = [max(cell.recall for cell in column) for column in zip(*found.values(), strict=True)]
    rows = [[name_of(entry), *_slice_cells(found[entry.label], best)] for entry in entries]
    yield table(f"By {name}", [[Head("Method", text=True), *map(Head, titles)]], rows)


def _slice(entry: Entry, name: str, label: str) -> Slice:
    """The mean over seeds; the users of a slice are the same whatever the seed."""
    cells = [run.row["slices"][name][label] for run in entry.runs]
    users = int(cells[0]["questions"])
    recall, ndcg = (sum(cell[key] for cell in cells) / len(cells) for key in ("recall@10", "ndcg@10"))
    interval = wilson_interval(recall, users)
    return Slice(users, recall, ndcg, (interval.low, interval.high))


def _slice_line(cells: Sequence[Slice], accent: bool) -> Line:
    points = [(place + 0.5, cell.recall) for place, cell in enumerate(cells)]
    return Line(points, accent, [cell.interval for cell in cells] if accent else ())


def _slice_cells(cells: Sequence[Slice], best: Sequence[float]) -> Iterator[Markup]:
    for cell, most in zip(cells, best, strict=True):
        found = number(cell.recall, figure(cell.recall), interval_of(cell.interval), cell.recall == most > 0)
        yield together([found, tag("small", f"N {figure(cell.ndcg)}")])


# ---- what is shown -------------------------------------------------------------------------------

BEYOND = {
    "coverage": "share of the catalogue that is shown to anybody",
    "novelty": "bits of surprise of a shown item",
    "popularity_lift": "how much more popular shown items are than those of the histories",
    "intra_list_distance": "how unlike the items of a list are, 0 to 2",
}


def beyond_accuracy(board: Board) -> Iterator[Markup]:
    entries = [entry for entry in board.ranked("item") if entry.row.get("beyond")]
    if not entries:
        return
    keys = list(dict.fromkeys(key for entry in entries for key in entry.row["beyond"]))
    heads = [Head("Method", text=True), *(Head(_spaced(key)) for key in keys)]
    rows = [[name_of(entry), *(_mean_beyond(entry, key) for key in keys)] for entry in entries]
    told = "; ".join(f"{_spaced(key)}: {BEYOND[key.split('@')[0]]}" for key in keys if key.split("@")[0] in BEYOND)
    note = "What the lists show apart from hits, seen items excluded. None of these figures has a best end."
    yield section("Beyond accuracy", note, table("The lists themselves", [heads], rows, f"{told.capitalize()}."))


def _spaced(key: str) -> str:
    return key.replace("_", " ")


def _mean_beyond(entry: Entry, key: str) -> Markup:
    values = [run.row["beyond"][key] for run in entry.runs if key in run.row["beyond"]]
    mean = sum(values) / len(values) if values else None
    return number(mean, "" if mean is None else figure(mean, 3))


# ---- codes ---------------------------------------------------------------------------------------


CODE_COLUMNS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "items": ("Items", lambda count: f"{count:,}"),
    "distinct": ("Distinct codes", lambda count: f"{count:,}"),
    "collision_rate": ("Items in collisions", percent),
    "largest_bucket": ("Largest bucket", lambda bucket: f"{bucket['items']:,} items"),
    "dead_tokens": ("Dead tokens by digit", lambda counts: ", ".join(map(str, counts))),
    "reconstruction_error": ("Lost of the vectors", percent),
    "entropy_bits": ("Entropy by digit, bits", lambda bits: ", ".join(f"{each:.2f}" for each in bits)),
}


def codes(board: Board) -> Iterator[Markup]:
    used = {entry.row["codes"]["name"]: entry.row["codes"] for entry in board.entries if entry.row["codes"]}
    known = {report["name"]: report for report in board.background.codes}
    tables = {name: {**used.get(name, {}), **known.get(name, {})} for name in (*used, *known)}
    if not tables:
        return
    note = (
        "Codes are what generative methods predict. Items that share one are told apart only by a rule for ties, "
        "so a figure per code says nothing without the number of distinct ones."
    )
    columns = {
        key: CODE_COLUMNS[key] for key in CODE_COLUMNS if any(found.get(key) is not None for found in tables.values())
    }
    heads = [Head("Table", text=True), *(Head(title) for title, _ in columns.values())]
    rows = [
        [name, *(NOTHING if found.get(key) is None else told(found[key]) for key, (_, told) in columns.items())]
        for name, found in tables.items()
    ]
    buckets = [_bucket(name, found["largest_bucket"]) for name, found in tables.items() if _is_shared(found)]
    yield section("Codes", note, table("Code tables", [heads], rows), *buckets)


def _is_shared(found: Mapping[str, Any]) -> bool:
    return found.get("largest_bucket", {}).get("items", 0) > 1 and bool(found["largest_bucket"]["titles"])


def _bucket(name: str, bucket: Mapping[str, Any]) -> Markup:
    code = " ".join(map(str, bucket["code"]))
    titles = [tag("li", shortened(title)) for title in bucket["titles"]]
    said = f"The largest bucket of {name}: {bucket['items']:,} items share the code {code}"
    return tag("div", tag("p", said, class_="lead"), tag("ul", *titles, class_="titles"))


# ---- cases ---------------------------------------------------------------------------------------


def cases(board: Board) -> Iterator[Markup]:
    found: Cases | None = board.background.cases
    if found is None or not (found.good or found.bad):
        return
    note = (
        f"Answers of {found.method} on test, drawn by chance: where the item really taken next came among the first "
        f"{GOOD_RANK}, and where it came after place {BAD_RANK}. Numbered: what was recommended, best first."
    )
    kinds = {title: some for title, some in (("Good", found.good), ("Bad", found.bad)) if some}
    columns = [tag("div", tag("h4", title), *map(_case, some)) for title, some in kinds.items()]
    yield section("Cases", note, tag("div", *columns, class_="cases"))


def _case(case: Case) -> Markup:
    history = [shortened(title) for title in case.history[-HISTORY_SHOWN:]]
    earlier = len(case.history) - len(history)
    begin = f"After {earlier} {'other' if earlier == 1 else 'others'} took " if earlier else "Took "
    place = f"not among the first {DEEPEST:,}" if case.rank >= ABSENT else f"place {case.rank:,}"
    top = [tag("li", shortened(title), class_="hit" if title == case.target else None) for title in case.top]
    target = [tag("b", shortened(case.target)), tag("span", f" ·\N{NO-BREAK SPACE}{place}")]
    return tag(
        "article",
        tag("p", begin, together(history, ARROW), class_="history"),
        tag("p", "and then ", *target, class_="next"),
        tag("ol", *top, class_="titles", aria_label="Recommended"),
    )
