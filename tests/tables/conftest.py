"""What every test of a reader needs: a way to write a file, and to see a log as plain Python."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.records import Log

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write("name.csv", "text") -> its path; a name that ends in .gz is packed."""

    def write_(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_


@pytest.fixture
def told() -> Told:
    """A log as user -> items in order, users in the log's order."""

    def told_(log: Log) -> dict[str, list[str]]:
        return {user: [log.items.ids[i] for i in log.events.row(row)] for row, user in enumerate(log.users)}

    return told_
