"""Time stamps: what unit a column is in, seen from its first values, and how to read it.

Events are ordered by ``ticks``, the finest integer the column gives, and stored as whole seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from sprintrec.errors import Mistake

# Upper bounds of what is taken for seconds, milliseconds and microseconds since 1970. As seconds, 1e11 is
# the year 5138; as milliseconds it is 1973.
NUMBER_UNITS = ((1e11, 1, "seconds"), (1e14, 1_000, "milliseconds"), (1e17, 1_000_000, "microseconds"))
NANOSECONDS = (1_000_000_000, "nanoseconds")
MICRO = 1_000_000
TEXT_FORMATS = (
    "%Y-%m-%d %H:%M:%S%.f%z",
    "%Y-%m-%d %H:%M%z",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d",
    "%Y%m%d",
)
EXPECTED = "seconds or milliseconds since 1970, or ISO 8601 such as 2024-01-31 or 2024-01-31T08:30:00"


@dataclass(frozen=True)
class Clock:
    """How one column's values are read."""

    per_second: int
    ticks: Callable[[pl.Expr], pl.Expr]  # a column -> Int64, null where a value cannot be read
    unit: str


def clock_for(sample: pl.Series, place: str) -> Clock:
    """The clock that reads most of a sample of a column; ``place`` names the column for messages."""
    values = sample.drop_nulls()
    if values.dtype.is_temporal() and values.dtype not in (pl.Time, pl.Duration):
        return Clock(MICRO, _from_datetime, "dates")
    if values.dtype.is_numeric():
        return _checked(_number_clock(values.cast(pl.Float64)), values, place)
    if values.dtype != pl.String:
        raise Mistake(f"{place} holds values of type {values.dtype}, no time stamps: {EXPECTED}")
    values = values.filter(values.str.strip_chars() != "")
    text_formats = _fitting_formats(values)
    numbers = values.str.strip_chars().cast(pl.Float64, strict=False).drop_nulls()
    eight_digits = "%Y%m%d" in text_formats and len(numbers) == len(values)
    clock = _number_clock(numbers) if len(numbers) * 2 > len(values) and not eight_digits else _text_clock(text_formats)
    return _checked(clock, values, place)


def moment(text: str, flag: str) -> int:
    """Seconds since 1970 of a moment typed by hand."""
    values = pl.Series([text])
    clock = clock_for(values, flag)
    return int(pl.select(clock.ticks(pl.lit(values))).item()) // clock.per_second


def _number_clock(numbers: pl.Series) -> Clock:
    finite = numbers.filter(numbers.is_finite())
    middle = abs(float(finite.median() or 0))  # type: ignore[arg-type]
    per_second, unit = next(((per, unit) for bound, per, unit in NUMBER_UNITS if middle < bound), NANOSECONDS)
    if unit == "seconds" and bool((finite != finite.floor()).any()):
        return Clock(MICRO, lambda column: _scaled(column, MICRO), "seconds with fractions")
    return Clock(per_second, _whole, unit)


def _whole(column: pl.Expr) -> pl.Expr:
    # Straight to an integer first: a float would lose the last digits of nanoseconds.
    return pl.coalesce(_number(column, pl.Int64), _number(column, pl.Float64).floor().cast(pl.Int64, strict=False))


def _scaled(column: pl.Expr, scale: int) -> pl.Expr:
    return (_number(column, pl.Float64) * scale).round().cast(pl.Int64, strict=False)


def _number(column: pl.Expr, kind: type[pl.DataType]) -> pl.Expr:
    return column.cast(pl.String).str.strip_chars().cast(kind, strict=False)


def _from_datetime(column: pl.Expr) -> pl.Expr:
    return column.cast(pl.Datetime("us")).cast(pl.Int64)


def _fitting_formats(values: pl.Series) -> list[str]:
    """The formats that read anything of the sample, the one that reads most first."""
    counts = {
        text_format: int(pl.select(_parsed(pl.lit(values), text_format).is_not_null().sum()).item())
        for text_format in TEXT_FORMATS
    }
    return sorted((one for one in TEXT_FORMATS if counts[one]), key=lambda one: -counts[one])


def _text_clock(formats: Sequence[str]) -> Clock:
    def ticks(column: pl.Expr) -> pl.Expr:
        return pl.coalesce(*(_parsed(column, one) for one in formats or TEXT_FORMATS[:1]))

    return Clock(MICRO, ticks, "ISO 8601, as UTC where no zone is given")


def _parsed(column: pl.Expr, text_format: str) -> pl.Expr:
    text = column.str.strip_chars()
    if "%z" in text_format:
        text = text.str.replace(r"\s*(Z|UTC)$", "+0000")
    text = text.str.replace("T", " ", literal=True)
    return text.str.to_datetime(text_format, time_unit="us", strict=False).cast(pl.Int64)


def _checked(clock: Clock, values: pl.Series, place: str) -> Clock:
    """The clock, unless it cannot read half of what the column holds."""
    unread = (
        pl.select(clock.ticks(pl.lit(values)).is_null()).to_series() if len(values) else pl.Series([], dtype=pl.Boolean)
    )
    if unread.sum() * 2 <= len(values):
        return clock
    example = values.filter(unread)[0]
    raise Mistake(f"{place} holds '{example}', which is no time stamp: give {EXPECTED}")
