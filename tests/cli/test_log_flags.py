"""The flags of reading a log are the fields of its options, no more and no fewer."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sprintrec.cli.log_flags import with_log_flags
from sprintrec.errors import Mistake
from sprintrec.tables import ReadOptions

given: list[tuple[int, ReadOptions]] = []


@with_log_flags
def verb(size: int, options: ReadOptions) -> None:
    """A verb of its own with one argument."""
    given.append((size, options))


def called(*words: str) -> ReadOptions:
    application = typer.Typer()
    application.command()(verb)
    result = CliRunner().invoke(application, ["3", *words])
    if isinstance(result.exception, Mistake):
        raise result.exception
    assert result.exit_code == 0, result.output
    size, options = given.pop()
    assert size == 3
    return options


def test_without_flags_the_defaults_hold() -> None:
    assert called() == ReadOptions()


def test_every_flag_reaches_its_field() -> None:
    words = {
        "format": "csv", "user": "a", "item": "b", "time": "c", "event_type": "d", "rating": "e", "items_id": "f",
        "delimiter": ";", "min_rating": "3.5", "since": "2024", "until": "2025", "history_types": "x, y",
        "target_types": "y", "k_core": "5,3", "min_history": "2", "allow_bad": "0.5", "rejects": "r.csv",
    }  # fmt: skip
    flags = [word for name, value in words.items() for word in (f"--{name.replace('_', '-')}", value)]
    options = called(*flags, "--no-header", "--first-only", "--drop-repeats", "--used-items-only")
    assert options == ReadOptions(
        format="csv", user="a", item="b", time="c", event_type="d", rating="e", items_id="f", delimiter=";",
        header=False, min_rating=3.5, since="2024", until="2025", history_types=("x", "y"), target_types=("y",),
        first_only=True, drop_repeats=True, k_core=(5, 3), min_history=2, used_items_only=True, allow_bad=0.5,
        rejects=Path("r.csv"),
    )  # fmt: skip
    changed = {field.name for field in fields(ReadOptions) if getattr(options, field.name) != field.default}
    assert changed == {field.name for field in fields(ReadOptions)}


def test_a_list_of_numbers_that_are_none() -> None:
    with pytest.raises(Mistake, match="--k-core takes whole numbers, not 'five'"):
        called("--k-core", "five")
