"""Events from files into arrays: one pass of polars over each file, never a Python object per event.

Ids become numbers on the way (polars' categories, shared by all files of a log), so what is held in memory
is 17 bytes per event, whatever the ids look like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sprintrec.errors import Mistake
from sprintrec.tables.checks import Reject, Rejects, refused
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.plan import KEPT, LEFT_OUT, Plan, check_types, choice_for, plan_for
from sprintrec.tables.table import ITEM, TICKS, TYPE, USER, Scan, Table

SAMPLE_ROWS = 10_000
# What reading a damaged file can end in: a packed one is an OSError without a number, a Parquet one may panic.
POLARS_FAILS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


@dataclass(frozen=True)
class Intake:
    """The events of a log in file order; users and items are numbers into their lists of ids."""

    # user and item uint32, and where there are such ticks int64, ordered as time is, and target bool; a dict, so
    # that who uses a column can take it out and no second copy of a long log is held.
    columns: dict[str, np.ndarray]
    user_ids: pl.Series
    item_ids: pl.Series
    plan: Plan
    rejects: Rejects
    notes: Sequence[str]


def gather(tables: Sequence[Table], options: ReadOptions) -> Intake:
    """All events of some files, checked, with ids as numbers."""
    plan, notes = _planned(tables, options)
    user_ids, item_ids = pl.Categories.random(), pl.Categories.random()
    frames: list[pl.DataFrame] = []
    verdicts = np.zeros(256, np.int64)
    rejected: list[Reject] = []
    for table in tables:
        frame, scan, note = _collected(table, plan, user_ids, item_ids)
        notes += [note] if note else []
        counts = np.zeros_like(verdicts)
        for verdict, count in frame["verdict"].value_counts().iter_rows():
            counts[verdict] = count
        verdicts += counts
        if counts[KEPT + 1 : LEFT_OUT].any():
            rejected += refused(table, plan.with_roles(table, scan(plan.choice.wanted)), plan.faults(table))
        frames.append(frame if counts[KEPT] == len(frame) else frame.filter(pl.col("verdict") == KEPT))
        del frame
    rejects = Rejects("rows", int(verdicts.sum()), int(verdicts[KEPT + 1 : LEFT_OUT].sum()), rejected)
    notes += [
        f"Events {exclusion.what}, left out: {count:,}."
        for count, exclusion in zip(verdicts[LEFT_OUT:], plan.exclusions, strict=False)
    ]
    # Before the columns are taken out of the frames: polars forgets categories that nothing refers to.
    ids = user_ids.to_series(), item_ids.to_series()
    columns = {name: _joined(frames, name) for name in frames[0].columns if name != "verdict"}
    return Intake(columns, *ids, plan, rejects, notes)


def _planned(tables: Sequence[Table], options: ReadOptions) -> tuple[Plan, list[str]]:
    """The plan, and what formats and plan have to say."""
    choice = choice_for(tables[0], options)
    for table in tables[1:]:
        lost = [column for column in choice.wanted if column not in table.columns]
        if lost:
            raise Mistake(f"{table.source} has no column '{lost[0]}', which {tables[0].source} has")
    sample, _, _ = _run(tables[0], choice.wanted, lambda frame: frame.head(SAMPLE_ROWS))
    if any(column not in sample.columns for column in choice.wanted):
        raise Mistake(f"{tables[0].source}: its rows have different numbers of columns: give it a header line")
    check_types(tables[0].source, sample, choice)
    plan = plan_for(tables[0], sample, _type_counts(tables, sample, choice.event_type, options), options)
    return plan, [*(note for table in tables for note in table.notes), *plan.notes]


def _type_counts(
    tables: Sequence[Table], sample: pl.DataFrame, column: str | None, options: ReadOptions
) -> Mapping[str, int]:
    """Events per type: of all files where an option names types, else of the sample, for the note alone."""
    if column is None:
        return {}

    def count(frame: pl.LazyFrame) -> pl.LazyFrame:
        return frame.group_by(pl.col(column).cast(pl.String).alias("type")).len()

    if options.history_types or options.target_types:
        frames = [_run(table, [column], count)[0] for table in tables]
    else:
        frames = [count(sample.lazy()).collect()]
    counts: Counter[str] = Counter()
    for frame in frames:
        counts.update({name: number for name, number in frame.rows() if name is not None})
    return counts


def _collected(
    table: Table, plan: Plan, user_ids: pl.Categories, item_ids: pl.Categories
) -> tuple[pl.DataFrame, Scan, str]:
    """What is read of one file, by which scan, and what there is to say about it."""
    kept = pl.col("verdict") == KEPT
    columns = [
        # Ids of rows that are not kept must not get a number: a broken one can be a megabyte long.
        pl.when(kept).then(pl.col(USER)).cast(pl.Categorical(user_ids)).alias("user"),
        pl.when(kept).then(pl.col(ITEM)).cast(pl.Categorical(item_ids)).alias("item"),
        pl.col("verdict"),
    ]
    if plan.clock is not None:
        columns.append(pl.col(TICKS).alias("ticks"))
    if plan.target_types:
        columns.append(pl.col(TYPE).is_in(plan.target_types).fill_null(False).alias("target"))

    def query(frame: pl.LazyFrame) -> pl.LazyFrame:
        return plan.with_roles(table, frame).with_columns(plan.verdict(table).alias("verdict")).select(columns)

    return _run(table, plan.choice.wanted, query)


def _run(
    table: Table, wanted: Sequence[str], query: Callable[[pl.LazyFrame], pl.LazyFrame]
) -> tuple[pl.DataFrame, Scan, str]:
    """A query's answer, and the scan that gave it: the careful one where the first one fails."""
    try:
        return query(table.scan(wanted)).collect(engine="streaming"), table.scan, ""
    except POLARS_FAILS as error:
        if table.careful is None:
            raise _unreadable(table, error) from error
    try:
        return query(table.careful(wanted)).collect(engine="streaming"), table.careful, table.careful_note
    except POLARS_FAILS as error:
        raise _unreadable(table, error) from error


def _unreadable(table: Table, error: BaseException) -> Exception:
    if isinstance(error, OSError) and error.errno is not None:
        return error  # the system's own: no permission, a broken disk
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return Mistake(f"{table.source} can't be read, it is damaged or cut off: {reason}")


def _joined(frames: list[pl.DataFrame], column: str) -> np.ndarray:
    """One column of all frames; it is taken out of them, so that no two copies of everything are held."""
    parts = []
    for at, frame in enumerate(frames):
        series = frame[column]
        parts.append((series.to_physical() if isinstance(series.dtype, pl.Categorical) else series).to_numpy())
        frames[at] = frame.drop(column)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
