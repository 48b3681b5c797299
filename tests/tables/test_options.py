"""Options that make no sense are refused when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from sprintrec.errors import Mistake
from sprintrec.tables import FORMATS, ReadOptions
from sprintrec.tables.formats import format_called


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "cvs"}, "unknown format 'cvs': did you mean 'csv'"),
        ({"allow_bad": 5}, "--allow-bad is a share between 0 and 1"),
        ({"k_core": (1, 2, 3)}, "--k-core takes one number, or two"),
        ({"k_core": (-1,)}, "--k-core takes one number, or two"),
        ({"delimiter": ""}, "--delimiter needs at least one character"),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Mistake, match=message):
        ReadOptions(**options)


@pytest.mark.parametrize(("k_core", "expected"), [((), (0, 0)), ((5,), (5, 5)), ((5, 3), (5, 3))])
def test_cores(k_core: tuple[int, ...], expected: tuple[int, int]) -> None:
    options = ReadOptions(k_core=k_core)
    assert (options.core_of_users, options.core_of_items) == expected


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_module_that_says_what_it_reads(name: str) -> None:
    module: Any = format_called(name)
    assert module.__doc__
    assert all(hasattr(module, verb) for verb in ("holds_events", "holds_items", "items_beside", "events", "items"))
