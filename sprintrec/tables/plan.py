"""How the events of a log will be read, decided once from a look at the first file.

The result is a handful of polars expressions: ids as text, time as ticks, and for every row a verdict: it is
an event, it is unreadable for such a reason, or it is left out because an option says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sprintrec.errors import Mistake, nearest
from sprintrec.tables.checks import Fault, faults_of, first_that_holds
from sprintrec.tables.columns import Choice, choose
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ITEM, RATING, TICKS, TYPE, USER, Table
from sprintrec.tables.times import Clock, clock_for, moment

KEPT = 0  # a verdict; those from 1 on are faults
LEFT_OUT = 100  # verdicts from here on are exclusions
MOST_TYPES_SHOWN = 10


@dataclass(frozen=True)
class Exclusion:
    """Why an event that could be read is not wanted."""

    applies: pl.Expr
    what: str  # goes on from "Events ..."


@dataclass(frozen=True)
class Plan:
    """What holds for all files of a log."""

    choice: Choice
    clock: Clock | None
    exclusions: Sequence[Exclusion]
    target_types: Sequence[str]  # none: every event may be asked for
    rated: bool  # whether an option looks at ratings
    notes: Sequence[str]

    def with_roles(self, table: Table, frame: pl.LazyFrame) -> pl.LazyFrame:
        """A scan with the columns made for the roles beside its own."""
        schema, choice = frame.collect_schema(), self.choice
        ids = {USER: choice.user, ITEM: choice.item}
        columns = {made: _as_text(column, schema[column], table.source) for made, column in ids.items()}
        if self.clock is not None:
            columns[TICKS] = self.clock.ticks(pl.col(str(choice.time)))
        if choice.event_type is not None:
            columns[TYPE] = pl.col(choice.event_type).cast(pl.String)
        if self.rated:
            columns[RATING] = pl.col(str(choice.rating)).cast(pl.Float64, strict=False)
        return frame.with_columns(**columns)

    def faults(self, table: Table) -> list[Fault]:
        return faults_of(table, self.choice, self.clock is not None, self.rated)

    def verdict(self, table: Table) -> pl.Expr:
        """What becomes of a row, as a number."""
        fault = first_that_holds((one.bad for one in self.faults(table)), KEPT + 1)
        left_out = first_that_holds((one.applies for one in self.exclusions), LEFT_OUT)
        return pl.coalesce(fault, left_out, pl.lit(KEPT, pl.UInt8))


def plan_for(table: Table, sample: pl.DataFrame, types: Mapping[str, int], options: ReadOptions) -> Plan:
    """The plan from the first rows of the first file and the counts of event types."""
    choice = choice_for(table, options)
    clock = clock_for(sample[choice.time], f"{table.source}: column '{choice.time}'") if choice.time else None
    exclusions = [*_by_type(choice, types, options), *_by_rating(options), *_by_time(clock, options)]
    notes = [choice.sentence, *_rating_note(choice, sample, options), *_type_note(choice, types, options)]
    return Plan(choice, clock, exclusions, options.target_types, options.min_rating is not None, notes)


def choice_for(table: Table, options: ReadOptions) -> Choice:
    """The columns, and a Mistake where an option needs one that is not there."""
    choice = choose(table.source, table.columns, options, table.roles, table.advice)
    needs = {
        "--min-rating": (options.min_rating is not None, choice.rating, "--rating"),
        "--history-types": (bool(options.history_types), choice.event_type, "--event-type"),
        "--target-types": (bool(options.target_types), choice.event_type, "--event-type"),
        "--since": (options.since is not None, choice.time, "--time"),
        "--until": (options.until is not None, choice.time, "--time"),
    }
    for flag, (wanted, column, how) in needs.items():
        if wanted and column is None:
            found = ", ".join(f"'{name}'" for name in table.columns)
            raise Mistake(f"{table.source} has no column for {flag}: found {found}; name it with {how} NAME")
    return choice


def check_types(source: str, sample: pl.DataFrame, choice: Choice) -> None:
    """A Mistake where a column is a list or the like: its name fits a role, and what it holds does not."""
    for role, column in (("rating", choice.rating), ("event-type", choice.event_type)):
        if column is not None and sample.schema[column].is_nested():
            kind = sample.schema[column]
            advice = f"name another with --{role}, or say --{role} none"
            raise Mistake(f"{source}: column '{column}' holds values of type {kind}, no {role}s: {advice}")


def _by_type(choice: Choice, types: Mapping[str, int], options: ReadOptions) -> list[Exclusion]:
    for wanted in (*options.history_types, *options.target_types):
        if wanted not in types:
            raise Mistake(f"no event has the type '{wanted}' in column '{choice.event_type}': {nearest(wanted, types)}")
    if not options.history_types:
        return []
    kept = list(dict.fromkeys((*options.history_types, *options.target_types)))
    return [Exclusion(~pl.col(TYPE).is_in(kept).fill_null(False), f"of other types than {', '.join(kept)}")]


def _by_rating(options: ReadOptions) -> list[Exclusion]:
    if options.min_rating is None:
        return []
    return [Exclusion(pl.col(RATING) < options.min_rating, f"rated below {options.min_rating:g}")]


def _by_time(clock: Clock | None, options: ReadOptions) -> list[Exclusion]:
    exclusions = []
    if clock is not None and options.since is not None:
        since = moment(options.since, "--since") * clock.per_second
        exclusions.append(Exclusion(pl.col(TICKS) < since, f"before {options.since}"))
    if clock is not None and options.until is not None:
        until = moment(options.until, "--until") * clock.per_second
        exclusions.append(Exclusion(pl.col(TICKS) >= until, f"from {options.until} on"))
    return exclusions


def _as_text(column: str, kind: pl.DataType, source: str) -> pl.Expr:
    """A column of ids as text without blanks around it; null where nothing is left."""
    value = pl.col(column)
    if kind.is_float():
        # A column of whole numbers becomes one of floats as soon as a value is missing: 7.0 is the id "7".
        whole = value.cast(pl.Int64, strict=False)
        value = pl.when(whole == value).then(whole.cast(pl.String)).otherwise(value.fill_nan(None).cast(pl.String))
    elif not (kind.is_integer() or isinstance(kind, (pl.String, pl.Categorical, pl.Enum, pl.Null))):
        raise Mistake(f"{source}: column '{column}' holds values of type {kind}, which are no ids: write them as text")
    text = value.cast(pl.String).str.strip_chars()
    return pl.when(text != "").then(text)


def _rating_note(choice: Choice, sample: pl.DataFrame, options: ReadOptions) -> list[str]:
    if choice.rating is None or options.min_rating is not None:
        return []
    ratings = sample[choice.rating].cast(pl.Float64, strict=False).drop_nulls()
    seen = f" ({min(ratings):g} to {max(ratings):g} in the first rows)" if len(ratings) else ""
    return [f"Events of every rating are kept{seen}; --min-rating leaves low ones out."]


def _type_note(choice: Choice, types: Mapping[str, int], options: ReadOptions) -> list[str]:
    if choice.event_type is None:
        return []
    if options.history_types or options.target_types:
        extra = [one for one in options.target_types if options.history_types and one not in options.history_types]
        also = f"; {', '.join(extra)} events, once they have been asked for, are history too" if extra else ""
        histories = ", ".join(options.history_types) or "all types"
        return [f"Histories hold {histories}; targets are {', '.join(options.target_types) or 'all of them'}{also}."]
    names = sorted(types, key=lambda name: -types[name])
    more = ", ..." if len(names) > MOST_TYPES_SHOWN else ""
    listed = ", ".join(names[:MOST_TYPES_SHOWN]) + more
    return [f"Events of every type ({listed}) are histories and targets; --history-types and --target-types choose."]
