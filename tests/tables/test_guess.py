"""Headers and nameless columns."""

from __future__ import annotations

import pytest

from sprintrec.tables.guess import guessed_roles, has_header


@pytest.mark.parametrize(
    ("rows", "named", "expected"),
    [
        ([["user", "item"], ["1", "2"]], (), True),
        ([["who", "what"], ["1", "2"]], (), True),
        ([["who", "what"], ["ann", "tea"]], (), True),
        ([["1", "what"], ["ann", "tea"]], ("1",), True),
        ([["196", "242", "3", "881250949"], ["186", "302", "3", "891717742"]], (), False),
        ([["A1", "B7"], ["A2", "B8"]], (), False),
        ([["ann", "tea"], ["bob", "tea"]], (), False),
        ([["ann", "tea"]], (), True),
    ],
)
def test_headers(rows: list[list[str]], named: tuple[str, ...], expected: bool) -> None:
    assert has_header(rows, named) is expected


@pytest.mark.parametrize(
    ("row", "roles"),
    [
        (["u", "i"], {}),
        (["u", "i", "881250949"], {"time": "3"}),
        (["u", "i", "4.5"], {"rating": "3"}),
        (["u", "i", "3", "881250949"], {"rating": "3", "time": "4"}),
        (["u", "i", "881250949000", "3", "4"], {"time": "3", "rating": "4"}),
        (["u", "i", "2024-01-31", "red"], {"time": "3"}),
        (["u", "i", "", "red"], {}),
    ],
)
def test_roles_of_nameless_columns(row: list[str], roles: dict[str, str]) -> None:
    assert guessed_roles([row, row]) == {"user": "1", "item": "2", **roles}
