"""Time stamps: the unit is seen from the values."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from sprintrec.errors import Mistake
from sprintrec.tables.times import clock_for, moment

MOMENT = 1_400_000_000  # 2014-05-13T16:53:20Z


def seconds(values: list[object], sample: list[object] | None = None) -> list[int | None]:
    clock = clock_for(pl.Series(sample or values, strict=False), "column 'time'")
    ticks = pl.select(clock.ticks(pl.lit(pl.Series(values, strict=False)))).to_series().to_list()
    return [None if tick is None else tick // clock.per_second for tick in ticks]


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (MOMENT, "seconds"),
        (MOMENT * 10**3, "milliseconds"),
        (MOMENT * 10**6, "microseconds"),
        (MOMENT * 10**9, "nanoseconds"),
        (float(MOMENT), "seconds"),
        (MOMENT + 0.25, "seconds with fractions"),
        ("1400000000", "seconds"),
        ("1.4e9", "seconds"),
        ("1400000000000", "milliseconds"),
        ("2014-05-13T16:53:20Z", "ISO 8601"),
        ("2014-05-13T18:53:20+02:00", "ISO 8601"),
        ("2014-05-13T18:53:20.75+0200", "ISO 8601"),
        ("2014-05-13 16:53:20 UTC", "ISO 8601"),
        ("2014-05-13 16:53:20", "ISO 8601"),
        (datetime(2014, 5, 13, 16, 53, 20, tzinfo=UTC), "dates"),
    ],
)
def test_units(value: object, unit: str) -> None:
    assert clock_for(pl.Series([value]), "").unit.startswith(unit)
    assert seconds([value]) == [MOMENT]


@pytest.mark.parametrize("day", ["2014-05-13", "20140513", "2014-05-13 00:00", "2014-05-13T00:00Z"])
def test_days(day: object) -> None:
    assert seconds([day]) == [1399939200]


def test_small_numbers_are_seconds_and_keep_their_order() -> None:
    assert seconds(["3", "1", "-2", "0"]) == [3, 1, -2, 0]


def test_nanoseconds_lose_no_digit() -> None:
    value = MOMENT * 10**9 + 123456789
    clock = clock_for(pl.Series([str(value)]), "")
    assert pl.select(clock.ticks(pl.lit(str(value)))).item() == value


def test_one_column_may_mix_ways_of_writing_dates() -> None:
    assert seconds(["2014-05-13", "2014-05-13T16:53:20Z", "2014-05-13 16:53"]) == [1399939200, MOMENT, MOMENT - 20]


def test_what_can_not_be_read_is_null() -> None:
    values = ["1", "x", "", None, "nan", "inf"]
    assert seconds(values, [*values, *"23456"]) == [1, None, None, None, None, None]
    assert seconds(["2014-05-13", "2014-02-30", "13.5.2014", "2014-05-14"])[1:3] == [None, None]


def test_a_column_of_something_else() -> None:
    with pytest.raises(Mistake, match=r"column 'time' holds 'red', which is no time stamp: give seconds or"):
        seconds(["red", "green", "1"])
    with pytest.raises(Mistake, match="holds values of type Boolean"):
        seconds([True])


def test_a_moment_typed_by_hand() -> None:
    assert moment("2014-05-13T16:53:20", "--since") == MOMENT
    assert moment("1400000000", "--since") == MOMENT
    with pytest.raises(Mistake, match="--since holds 'yesterday'"):
        moment("yesterday", "--since")
