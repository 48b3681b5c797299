"""The table of methods is made from the files there are."""

from __future__ import annotations

import json

import pytest

from sprintrec import method
from sprintrec.cli import main
from sprintrec.method import method_names


def test_every_method_is_listed_with_its_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["methods"]
    assert [row["method"] for row in rows] == method_names()
    for row in rows:
        assert row["about"]
        assert isinstance(row["trained_by_gradient"], bool)


def test_a_missing_library_breaks_one_line_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_torch(name: str) -> type:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(method, "find_method", without_torch)
    monkeypatch.setattr(method, "method_names", lambda: ["sprint"])
    assert main(["methods"]) == 0
    assert "needs torch: type pip install 'sprintrec[train]'" in capsys.readouterr().out
