"""Tables in memory (pandas, polars, Arrow) as tables to be read, and back, without needing pandas or Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sprintrec.errors import Mistake
from sprintrec.tables.parquet import item_rows_of, of_frame
from sprintrec.tables.table import ROW, ItemList, Table


def events_table(frame: Any) -> Table:
    return of_frame(as_polars(frame, "events").with_row_index(ROW), "events", first_row=0)


def items_list(frame: Any) -> ItemList:
    return ItemList("items", item_rows_of(as_polars(frame, "items").collect(), first_row=0))


def as_polars(frame: Any, name: str) -> pl.LazyFrame:
    """Any table as a lazy frame of polars."""
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return frame.lazy()
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        return pl.DataFrame([_series(str(column), frame[column]) for column in frame.columns]).lazy()
    if hasattr(frame, "__arrow_c_stream__"):
        return pl.DataFrame(frame).lazy()
    raise Mistake(f"{name} must be a table of pandas, polars or Arrow, not {type(frame).__name__}")


def of_the_same_kind(frame: Any, columns: Mapping[str, Any]) -> Any:
    """A table of the library that a given one is of; polars where that library makes none from columns."""
    kind = type(frame)
    if hasattr(kind, "from_pydict"):
        return kind.from_pydict(dict(columns))
    return kind(dict(columns)) if hasattr(kind, "columns") else pl.DataFrame(dict(columns))


def _series(name: str, column: Any) -> pl.Series:
    """A column of pandas, whose own way to polars needs Arrow."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if column.dtype.kind in "iufbM":
        return pl.Series(name, column.to_numpy())
    values = column.astype(object)
    return pl.Series(name, values.where(values.notna(), None).to_list(), strict=False)
