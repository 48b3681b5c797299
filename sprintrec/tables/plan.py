"""How the events of a log will be read, decided once from a look at the first file.

The result is a handful of polars expressions: ids as text, time as ticks, and for every row a verdict: it is
an event, it is unreadable for such a reason, or it is left out because an option says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sprintrec.errors import Mistake, nearest
from sprintrec.tables.checks import Fault, as_text, faults_of, first_that_holds
from sprintrec.tables.columns import Choice, choose
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import Table
from sprintrec.tables.times import Clock, clock_for, moment

KEPT = 0  # a verdict; those from 1 on are faults
LEFT_OUT = 100  # verdicts from here on are exclusions
MOST_TYPES_SHOWN = 10


@dataclass(frozen=True)
class Exclusion:
    """Why an event that could be read is not wanted."""

    applies: pl.Expr
    what: str  # goes on from "12 events ..."


@dataclass(frozen=True)
class Plan:
    """What holds for all files of a log."""

    choice: Choice
    clock: Clock | None
    exclusions: Sequence[Exclusion]
    targets: pl.Expr | None  # whether an event may be asked for; None: all may
    rated: bool  # whether an option looks at ratings
    notes: Sequence[str]

    def faults(self, table: Table, schema: Mapping[str, pl.DataType]) -> list[Fault]:
        return faults_of(table, schema, self.choice, self.clock, self.rated)

    def columns(
        self,
        table: Table,
        schema: Mapping[str, pl.DataType],
        faults: Sequence[Fault],
        user_ids: pl.Categories,
        item_ids: pl.Categories,
    ) -> list[pl.Expr]:
        """What is read of one file: user, item, verdict, and where there are such: ticks, target."""
        fault = first_that_holds((one.bad for one in faults), KEPT + 1)
        left_out = first_that_holds((one.applies for one in self.exclusions), LEFT_OUT)
        verdict = pl.coalesce(fault, left_out, pl.lit(KEPT, pl.UInt8))
        # Ids of rows that are not wanted must not get a number: a broken one can be a megabyte long.
        user, item = (
            pl.when(verdict == KEPT).then(as_text(column, schema[column], table.source)).cast(pl.Categorical(ids))
            for column, ids in ((self.choice.user, user_ids), (self.choice.item, item_ids))
        )
        columns = [user.alias("user"), item.alias("item"), verdict.alias("verdict")]
        if self.clock is not None and self.choice.time is not None:
            columns.append(self.clock.ticks(pl.col(self.choice.time)).alias("ticks"))
        if self.targets is not None:
            columns.append(self.targets.alias("target"))
        return columns


def plan_for(table: Table, sample: pl.DataFrame, types: Mapping[str, int], options: ReadOptions) -> Plan:
    """The plan from the first rows of the first file and the counts of event types."""
    choice = choice_for(table, options)
    clock = clock_for(sample[choice.time], f"{table.source}: column '{choice.time}'") if choice.time else None
    exclusions = [*_by_type(choice, types, options), *_by_rating(choice, options), *_by_time(choice, clock, options)]
    targets = pl.col(choice.event_type).is_in(options.target_types) if options.target_types else None  # type: ignore
    rated = options.min_rating is not None
    notes = [choice.sentence, *_rating_note(choice, sample, options), *_type_note(choice, types, options)]
    return Plan(choice, clock, exclusions, targets, rated, notes)


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


def _by_type(choice: Choice, types: Mapping[str, int], options: ReadOptions) -> list[Exclusion]:
    for wanted in (*options.history_types, *options.target_types):
        if wanted not in types:
            raise Mistake(f"no event has the type '{wanted}' in column '{choice.event_type}': {nearest(wanted, types)}")
    if not options.history_types:
        return []
    kept = (*options.history_types, *options.target_types)
    column = pl.col(str(choice.event_type))
    return [Exclusion(~column.is_in(kept).fill_null(False), f"of other types than {', '.join(dict.fromkeys(kept))}")]


def _by_rating(choice: Choice, options: ReadOptions) -> list[Exclusion]:
    if options.min_rating is None:
        return []
    rating = pl.col(str(choice.rating)).cast(pl.Float64, strict=False)
    return [Exclusion(rating < options.min_rating, f"rated below {options.min_rating:g}")]


def _by_time(choice: Choice, clock: Clock | None, options: ReadOptions) -> list[Exclusion]:
    exclusions = []
    if clock is not None and options.since is not None:
        since = moment(options.since, "--since") * clock.per_second
        exclusions.append(Exclusion(clock.ticks(pl.col(str(choice.time))) < since, f"before {options.since}"))
    if clock is not None and options.until is not None:
        until = moment(options.until, "--until") * clock.per_second
        exclusions.append(Exclusion(clock.ticks(pl.col(str(choice.time))) >= until, f"from {options.until} on"))
    return exclusions


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
