"""The flags of every verb that reads a log, made from the fields of ``ReadOptions``: one place for all of them."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from sprintrec.errors import Mistake
from sprintrec.tables.options import ReadOptions

PANEL = "Reading the log"
EventsPath = Annotated[
    Path, typer.Argument(metavar="EVENTS", help="The events: a file, or a folder of a known format.")
]
ItemsPath = Annotated[
    Path | None,
    typer.Argument(
        metavar="ITEMS", help="The item list. Without it, the list that lies beside events of a known format."
    ),
]


def with_log_flags(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb a flag per field of ReadOptions; the verb takes them all as one argument ``options``."""
    kinds = typing.get_type_hints(ReadOptions)
    own = [one for one in inspect.signature(verb, eval_str=True).parameters.values() if one.name != "options"]
    flags = [_flag(field, kinds[field.name]) for field in fields(ReadOptions)]

    @functools.wraps(verb)
    def called(**values: Any) -> None:
        given = {
            field.name: _as_field(field, kinds[field.name], values.pop(field.name)) for field in fields(ReadOptions)
        }
        verb(**values, options=ReadOptions(**given))

    # Typer reads both; what functools.wraps copied names ``options``.
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *flags)]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _flag(field: Field[Any], kind: Any) -> inspect.Parameter:
    """A field as a parameter; lists are typed with commas, and what is off by default needs no --no-."""
    name = f"--{field.name.replace('_', '-')}"
    named = (name,) if kind is bool else ()
    option = typer.Option(*named, help=field.metadata["help"], rich_help_panel=PANEL)
    listed = typing.get_origin(kind) is tuple
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if listed else field.default,
        annotation=Annotated[str | None if listed else kind, option],
    )


def _as_field(field: Field[Any], kind: Any, value: Any) -> Any:
    if typing.get_origin(kind) is not tuple:
        return value
    parts = [part.strip() for part in (value or "").split(",") if part.strip()]
    try:
        return tuple(typing.get_args(kind)[0](part) for part in parts)
    except ValueError as error:
        raise Mistake(f"--{field.name.replace('_', '-')} takes whole numbers, not '{value}'") from error
