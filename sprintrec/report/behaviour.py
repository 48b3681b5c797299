"""The part of the page that says how entries behave: while they learn, for whom they work, what they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sprintrec.metrics import ABSENT, DEEPEST
from sprintrec.report.about import BAD_RANK, GOOD_RANK, Case, Cases
from sprintrec.report.board import Board, Entry
from sprintrec.report.document import NOTHING, Head, Markup, number, section, table, tag, together
from sprintrec.report.figures import Line, axis_to, panel
from sprintrec.report.results import name_of
from sprintrec.report.words import distinct_codes, figure, per_level, percent, shortened
from sprintrec.significance import wilson_interval

EPOCH_ROWS = 25  # of the table of a learning curve
HISTORY_SHOWN = 5
ARROW = Markup(" <i>→</i> ")


# ---- learning ------------------------------------------------------------------------------------


def learning(board: Board) -> Iterator[Markup]:
    learners = [entry for entry in board.ranked(board.headline) if any(run.curve for run in entry.runs)]
    if not learners:
        return
    levels = list(dict.fromkeys(_stop_level(entry) for entry in learners))
    groups = [[entry for entry in learners if _stop_level(entry) == level] for level in levels]
    note = (
        "Validation after every epoch, by the score that training stops on; the dot is the epoch kept. "
        "A method in colour, the others of its kind in grey. Below, the loss of training."
    )
    small = [_learning_panels(group, level) for group, level in zip(groups, levels, strict=True)]
    yield section("Learning", note, *small, _loss_panels(learners), _curve_table(learners))


def _stop_level(entry: Entry) -> str:
    return entry.row["settings"].get("training", {}).get("stop_on", "item")


def _learning_panels(entries: Sequence[Entry], level: str) -> Markup:
    y = axis_to(max(value for entry in entries for line in _validation(entry) for _, value in line), 4)
    x_end = max(point[0] for entry in entries for line in _validation(entry) for point in line)

    def one(entry: Entry) -> Markup:
        kept = [max(line, key=lambda point: point[1]) for line in _validation(entry)]
        lines = [Line(line, other is entry) for other in entries for line in _validation(other)]
        lines += [Line([best], True, dot=best) for best in kept]
        spoken = f"Validation N@10 of {entry.label} by epoch: best {figure(kept[0][1])} in epoch {kept[0][0]:.0f}"
        return _panel(entry, panel(lines, y, _epochs(x_end), x_end, spoken))

    return _panels(f"Validation N@10 {per_level(level)} by epoch", [one(entry) for entry in entries])


def _loss_panels(entries: Sequence[Entry]) -> Markup:
    def one(entry: Entry) -> Markup:
        losses = [[(record["epoch"] + 1, record["loss"]) for record in run.curve] for run in entry.runs if run.curve]
        y = axis_to(max(value for line in losses for _, value in line), 3)
        x_end = max(line[-1][0] for line in losses)
        spoken = f"Loss of {entry.label} by epoch: from {losses[0][0][1]:.2f} to {losses[0][-1][1]:.2f}"
        return _panel(entry, panel([Line(line, True) for line in losses], y, _epochs(x_end), x_end, spoken))

    return _panels("Loss of training by epoch", [one(entry) for entry in entries])


def _validation(entry: Entry) -> list[list[tuple[float, float]]]:
    """Validation N@10 by epoch, counted from 1, one line per seed; a curve without it has no line."""
    measured = [[record for record in run.curve if "ndcg@10" in record.get("validation", {})] for run in entry.runs]
    return [[(record["epoch"] + 1, record["validation"]["ndcg@10"]) for record in line] for line in measured if line]


def _epochs(end: float) -> list[tuple[float, str]]:
    return [(tick, f"{tick:.0f}") for tick in axis_to(end, 4).ticks if tick <= end]


def _panels(caption: str, parts: Sequence[Markup]) -> Markup:
    return tag("figure", tag("figcaption", caption), tag("div", *parts, class_="panels"))


def _panel(entry: Entry, drawn: Markup) -> Markup:
    return tag("div", tag("p", name_of(entry)), drawn)


def _curve_table(entries: Sequence[Entry]) -> Markup:
    runs = [(entry, run) for entry in entries for run in entry.runs if run.curve]
    last = max(len(run.curve) for _, run in runs)
    step = -(-last // EPOCH_ROWS)
    shown = sorted({*range(0, last, step), last - 1})
    above = [Head("")] + [Head(_run_name(entry, run.row["seed"]), span=2) for entry, run in runs]
    heads = [Head("Epoch", text=True), *(head for _ in runs for head in (Head("loss"), Head("N@10")))]
    rows = [[str(epoch + 1), *(cell for _, run in runs for cell in _epoch_cells(run.curve, epoch))] for epoch in shown]
    caption = "Learning curves" if step == 1 else f"Learning curves, every {step} epochs"
    return tag("details", tag("summary", "The curves as a table"), table(caption, [above, heads], rows))


def _run_name(entry: Entry, seed: int) -> str:
    return entry.label if entry.seeds == 1 else f"{entry.label}, seed {seed}"


def _epoch_cells(curve: Sequence[Mapping[str, Any]], epoch: int) -> Iterator[Markup]:
    if epoch >= len(curve):
        yield from (NOTHING, NOTHING)
        return
    loss, score = curve[epoch]["loss"], curve[epoch].get("validation", {}).get("ndcg@10")
    yield number(loss, figure(loss, 3))
    yield number(score, "" if score is None else figure(score))


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
    cut = [(name, [entry for entry in entries if name in entry.row["slices"]]) for name in groupings]
    yield section("For whom", note, *(part for name, alike in cut for part in _slicing(alike, name)))


def _slicing(entries: Sequence[Entry], name: str) -> Iterator[Markup]:
    bins = list(dict.fromkeys(label for entry in entries for label in entry.row["slices"].get(name, {})))
    bins.sort(key=lambda label: int("".join(map(str, label.split()[0])).rstrip("+")))
    found = {entry.label: [_slice(entry, name, label) for label in bins] for entry in entries}
    y = axis_to(max(high for cells in found.values() for _, _, (_, high), _ in cells), 4)
    labels = [(place + 0.5, label.replace(" to ", "–")) for place, label in enumerate(bins)]

    def one(entry: Entry) -> Markup:
        lines = [_slice_line(found[other.label], other is entry) for other in entries]
        spoken = f"R@10 of {entry.label} by {name}: " + ", ".join(
            f"{label} {figure(share)}" for label, (share, *_) in zip(bins, found[entry.label], strict=True)
        )
        return _panel(entry, panel(lines, y, labels, len(bins), spoken))

    yield _panels(f"R@10 by {name}", [one(entry) for entry in entries])
    counts = [f"{count:,} users" for _, _, _, count in found[entries[0].label]]
    titles = [tag("span", label, tag("small", count)) for label, count in zip(bins, counts, strict=True)]
    heads = [Head("Method", text=True), *map(Head, titles)]
    best = [max(found[entry.label][place][0] for entry in entries) for place in range(len(bins))]
    rows = [[name_of(entry), *_slice_cells(found[entry.label], best)] for entry in entries]
    yield table(f"By {name}", [heads], rows)


Slice = tuple[float, float, tuple[float, float], int]  # R@10, N@10, interval of R@10, users


def _slice(entry: Entry, name: str, label: str) -> Slice:
    """A slice over all seeds; the users of a slice are the same whatever the seed."""
    cells = [run.row["slices"][name][label] for run in entry.runs]
    share, ndcg = (sum(cell[key] for cell in cells) / len(cells) for key in ("recall@10", "ndcg@10"))
    count = int(cells[0]["questions"])
    interval = wilson_interval(share, count)
    return share, ndcg, (interval.low, interval.high), count


def _slice_line(cells: Sequence[Slice], accent: bool) -> Line:
    points = [(place + 0.5, share) for place, (share, *_) in enumerate(cells)]
    return Line(points, accent, [interval for _, _, interval, _ in cells] if accent else ())


def _slice_cells(cells: Sequence[Slice], best: Sequence[float]) -> Iterator[Markup]:
    for (share, ndcg, (low, high), _), most in zip(cells, best, strict=True):
        beneath = tag("small", f"N {figure(ndcg)}")
        yield tag("span", number(share, figure(share), f"{figure(low)}–{figure(high)}", share == most > 0), beneath)


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


def codes(board: Board) -> Iterator[Markup]:
    used = {entry.row["codes"]["name"]: entry.row["codes"] for entry in board.entries if entry.row["codes"]}
    told = {report["name"]: report for report in board.background.codes}
    tables = {name: {**used.get(name, {}), **told.get(name, {})} for name in (*used, *told)}
    if not tables:
        return
    note = (
        "Codes are what generative methods predict. Items that share one are told apart only by a rule for ties, "
        "so a figure per code says nothing without the number of distinct ones."
    )
    heads = [Head("Table", text=True), Head("Distinct"), Head("Items in collisions"), Head("Largest bucket")]
    heads += [Head("Dead tokens by digit"), Head("Entropy by digit, bits")]
    rows = [[name, *_code_cells(found)] for name, found in tables.items()]
    buckets = [_bucket(name, found["largest_bucket"]) for name, found in tables.items() if _is_shared(found)]
    yield section("Codes", note, table("Code tables", [heads], rows), *buckets)


def _code_cells(found: Mapping[str, Any]) -> Iterator[object]:
    yield distinct_codes(found).replace(" codes for ", " of ").removesuffix(" items")
    yield percent(found["collision_rate"]) if "collision_rate" in found else NOTHING
    yield f"{found['largest_bucket']['items']:,} items" if "largest_bucket" in found else NOTHING
    yield ", ".join(map(str, found["dead_tokens"])) if "dead_tokens" in found else NOTHING
    yield ", ".join(f"{bits:.2f}" for bits in found["entropy_bits"]) if "entropy_bits" in found else NOTHING


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
    columns = [
        tag("div", tag("h4", title), *map(_case, some))
        for title, some in (("Good", found.good), ("Bad", found.bad))
        if some
    ]
    yield section("Cases", note, tag("div", *columns, class_="cases"))


def _case(case: Case) -> Markup:
    history = [shortened(title) for title in case.history[-HISTORY_SHOWN:]]
    earlier = len(case.history) - len(history)
    begin = f"After {earlier} {'other' if earlier == 1 else 'others'} took " if earlier else "Took "
    place = f"not among the first {DEEPEST:,}" if case.rank >= ABSENT else f"place {case.rank:,}"
    top = [tag("li", shortened(title), class_="hit" if title == case.target else None) for title in case.top]
    return tag(
        "article",
        tag("p", begin, together(history, ARROW), class_="history"),
        tag(
            "p",
            "and then ",
            tag("b", shortened(case.target)),
            tag("span", f" ·\N{NO-BREAK SPACE}{place}"),
            class_="next",
        ),
        tag("ol", *top, class_="titles", aria_label="Recommended"),
    )
