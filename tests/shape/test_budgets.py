"""Files and functions stay short: 400 lines a file, and at most 2 % of functions over 60."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE_LINES = 400
FUNCTION_LINES = 60
SHARE_OVER = 0.02


def files() -> Iterator[Path]:
    for folder in ("sprintrec", "tests", "benchmarks"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def functions(file: Path) -> Iterator[tuple[str, int]]:
    """Name and length of every function of a file, methods and inner functions included."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            yield f"{file.relative_to(ROOT)}: {node.name}", node.end_lineno - node.lineno + 1


def test_no_file_is_too_long() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files()}
    assert {name: length for name, length in lengths.items() if length > FILE_LINES} == {}


def test_hardly_any_function_is_long() -> None:
    lengths = dict(pair for file in files() for pair in functions(file))
    long = {name: length for name, length in lengths.items() if length > FUNCTION_LINES}
    assert len(long) <= SHARE_OVER * len(lengths), f"{len(long)} of {len(lengths)} functions are long: {long}"
