"""The part of the page that says under which conditions figures came about: protocol, leaks, cost, surroundings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sprintrec.audit import REPEATS_MATTER
from sprintrec.report.board import Board, Entry
from sprintrec.report.document import NOTHING, Head, Markup, number, section, table, tag
from sprintrec.report.results import name_of
from sprintrec.report.words import LEVEL_TITLES, duration, joined, percent
from sprintrec.rows import Row
from sprintrec.significance import DRAWS, FLIPS

SPLITS = {
    "last-out": "The last event of every user is asked for at test, the one before it for validation. "
    "It leaks across users: what others did later is trained on. Fit for comparing with papers.",
    "time": "One moment cuts the whole log: before it is training, then validation, then test. Nobody's later "
    "events are trained on, as in a running shop.",
}
FULL_RANKING = "Full: every item of the catalogue is ranked for every user; no negatives are sampled."
TIES = "Equal scores are ordered by training popularity, then by the place in the item list; so are items of one code."
HIT = "The target item itself in the list. Per code, beside it and labelled: the target's code among distinct codes."
WARNINGS = ("BROKEN", "LEAK")


def protocol(board: Board) -> Iterator[Markup]:
    facts = {
        "Split": SPLITS.get(board.protocol, f"{board.protocol}, as set down when the log was prepared."),
        "Questions": f"{board.users:,} users at test, one question each.",
        "Log": " ".join(board.background.notes)
        or "Taken as it was prepared; its filters (k-core, ratings) were not told.",
        "Repeats": _repeats(board),
        "Seen items": _seen(board),
        "History": _history(board.entries),
        "Ranking": FULL_RANKING,
        "A hit": HIT,
        "Ties": TIES,
        "Sureness": f"Intervals of 95 % by {DRAWS:,} bootstrap draws of users; paired tests by {FLIPS:,} random "
        "exchanges of two methods' figures per user.",
    }
    note = "How every figure on this page was made. All methods answered the same questions."
    yield section("Protocol", note, _definitions(facts))


def _repeats(board: Board) -> str:
    share = board.repeat_share
    if share is None:
        return "How often people take an item again was not told."
    if share == 0:
        return "No event repeats an item of the user's own past."
    line = f"{percent(share)} of events repeat an item of the user's own past"
    if share <= REPEATS_MATTER:
        return f"{line}."
    return f"{line}, more than {percent(REPEATS_MATTER)}: figures with seen items kept come first."


def _seen(board: Board) -> str:
    other = "item" if board.headline == "item_seen_kept" else "item_seen_kept"
    return (
        f"Both ways for every method alike. Headline: {_lower(board.headline)}; beside it: {_lower(other)}. "
        "Excluded means all of the user's past, not only the part a method reads."
    )


def _lower(level: str) -> str:
    return LEVEL_TITLES[level][0].lower() + LEVEL_TITLES[level][1:]


def _history(entries: Sequence[Entry]) -> str:
    """Which methods read how much of a history."""
    readers: dict[int | None, list[str]] = {}
    for entry in entries:
        readers.setdefault(_longest_read(entry.row["settings"]), []).append(entry.label)
    told = [f"the last {length} items for {joined(names)}" for length, names in readers.items() if length]
    whole = [f"no such limit is set for {joined(names)}" for length, names in readers.items() if not length]
    line = "; ".join(told + whole)
    return f"{line[0].upper()}{line[1:]}."


def _longest_read(settings: Mapping[str, Any]) -> int | None:
    """The longest history that any part of a method reads; a part without layers reads nothing."""
    parts = [settings, *(group for group in settings.values() if isinstance(group, Mapping))]
    return max((part["history"] for part in parts if part.get("history") and part.get("layers") != 0), default=None)


def leaks(board: Board) -> Iterator[Markup]:
    if not board.background.audit:
        return
    lines = [
        tag("li", line, class_="warning" if any(word in line for word in WARNINGS) else None)
        for line in board.background.audit
    ]
    note = "What the split lets the past know of the future, counted on the log itself."
    yield section("Leak audit", note, tag("ul", *lines, class_="plain"))


def cost(board: Board) -> Iterator[Markup]:
    heads = [Head("Method", text=True), Head("Parameters"), Head("Training"), Head("Epochs"), Head("Best epoch")]
    heads += [Head("Evaluation"), Head("Device", text=True)]
    rows = [[name_of(entry), *_cost_cells(entry)] for entry in board.ranked(board.headline)]
    several = any(entry.seeds > 1 for entry in board.entries)
    note = "Parameters, and time on the clock. Evaluation answers every question twice, seen items out and kept."
    yield section("Cost", note, table("Per seed, on average" if several else "Per run", [heads], rows))


def _cost_cells(entry: Entry) -> Iterator[object]:
    yield number(entry.row["parameters"], f"{entry.row['parameters']:,}")
    for key in ("train", "epochs", "best_epoch", "evaluate"):
        values = [run.row["seconds"].get(key) for run in entry.runs]
        known = [value for value in values if value is not None]
        mean = sum(known) / len(known) if known else None
        if mean is None or (key == "epochs" and not mean):
            yield NOTHING
        elif key == "best_epoch":
            yield number(mean, f"{mean + 1:.0f}")  # rows count epochs from 0, people from 1
        else:
            yield number(mean, f"{mean:.0f}" if key == "epochs" else duration(mean))
    yield joined(sorted({run.row["machine"]["device"] for run in entry.runs}))


def surroundings(board: Board, command: str | None) -> Iterator[Markup]:
    rows = [run.row for entry in board.entries for run in entry.runs]
    machines = {
        f"{row['machine']['processor']}, {row['machine']['cores']} cores, Python {row['machine']['python']}, "
        f"torch {row['machine']['torch']}, {row['machine']['device']}": None
        for row in rows
    }
    encoders = [(row.get("texts") or {}).get("encoder") for row in rows]
    facts = {
        "Log": f"{board.place}; hash {rows[0]['data_hash']}",
        "Codes": "; ".join(f"{name}, hash {hash_}" for name, hash_ in _code_tables(rows).items()) or "none",
        "Texts": joined(sorted({encoder for encoder in encoders if encoder})) or "none",
        "Machine": "; ".join(machines),
        "Version": f"sprintrec {joined(sorted({row['version'] for row in rows}))}",
        "Rows": f"{len(rows):,}: " + "; ".join(f"{entry.row['recipe']}, {_seeds(entry)}" for entry in board.entries),
    }
    typed = tag("div", tag("p", "All of it again:", class_="lead"), tag("pre", tag("code", command)))
    note = "Where the figures come from. Everything above was read from saved rows, nothing was measured anew."
    yield section("Made by", note, _definitions(facts), *([typed] if command else []))


def _code_tables(rows: Sequence[Row]) -> dict[str, str]:
    return {row["codes"]["name"]: row["codes"]["hash"] for row in rows if row["codes"]}


def _seeds(entry: Entry) -> str:
    numbers = [run.row["seed"] for run in entry.runs]
    return f"seed {numbers[0]}" if len(numbers) == 1 else f"seeds {', '.join(map(str, numbers))}"


def _definitions(facts: dict[str, str]) -> Markup:
    return tag("dl", *(tag("div", tag("dt", term), tag("dd", said)) for term, said in facts.items()))
