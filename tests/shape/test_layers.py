"""The house has one direction: a file imports only what lies below it, in-function imports included.

Every file or folder directly under ``sprintrec`` stands in one layer. Within a folder files may import
each other; two names of the same layer may not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "sprintrec"

LAYERS = (
    {"records", "errors", "machine"},
    {"settings", "metrics", "rows", "tables"},
    {"datasets", "split", "texts"},
    {"codes", "audit"},
    {"prepared", "card", "flow", "blocks", "windows", "checkpoints", "processes"},
    {"encoder", "ranking", "preparing", "model_folder"},
    {"network"},
    {"objective", "method"},
    {"training", "recipe"},
    {"gradient_method"},
    {"methods", "engine"},
    {"evaluation", "significance"},
    {"experiment", "measuring", "report", "service"},
    {"recommender", "tuning", "retire"},
    {"build"},
    {"cli"},
    {"__init__", "__main__"},
)
LAYER_OF = {name: layer for layer, names in enumerate(LAYERS) for name in names}

# The engine must run where nothing is trained, so it sees less than its layer would allow.
ENGINE_MAY_IMPORT = ("records", "errors", "texts", "codes.assign", "model_folder", "engine")


def imports_of(file: Path, package: Path) -> Iterator[str]:
    """Dotted names below the package that a file imports anywhere; the package's own name alone is left out."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: write the import in full, starting with sprintrec"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top, _, below = name.partition(".")
            first = below.split(".")[0]
            if top == "sprintrec" and ((package / first).is_dir() or (package / f"{first}.py").is_file()) and first:
                yield below


def unit_of(file: Path, package: Path) -> str:
    return file.relative_to(package).with_suffix("").parts[0]


def upward_imports(package: Path) -> list[str]:
    """One line per import that does not go down."""
    found = []
    for file in sorted(package.rglob("*.py")):
        unit = unit_of(file, package)
        for name in imports_of(file, package):
            other = name.split(".")[0]
            if other != unit and LAYER_OF.get(other, -1) >= LAYER_OF.get(unit, len(LAYERS)):
                found.append(f"{file.relative_to(package)} (layer of {unit}) imports {name} (layer of {other})")
            if unit == "engine" and not any(f"{name}.".startswith(f"{may}.") for may in ENGINE_MAY_IMPORT):
                found.append(f"{file.relative_to(package)} imports {name}, which an engine must not need")
    return found


def test_every_file_has_a_layer() -> None:
    units = {unit_of(file, PACKAGE) for file in PACKAGE.rglob("*.py")}
    assert units <= LAYER_OF.keys(), "name the layer of a new file in tests/shape/test_layers.py"


def test_imports_go_down_only() -> None:
    assert upward_imports(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("split.py", "import sprintrec.prepared"),
        ("split.py", "def late():\n    from sprintrec.prepared import Prepared"),
        ("split.py", "from sprintrec import prepared"),
        ("metrics.py", "from sprintrec.settings import read"),
        ("engine/cpu.py", "from sprintrec.codes.opq import train"),
        ("engine/cpu.py", "from sprintrec.split import split"),
    ],
)
def test_an_upward_import_is_found(tmp_path: Path, file: str, text: str) -> None:
    for name in ("prepared.py", "settings.py", "split.py", "metrics.py", "codes/opq.py", "engine/cpu.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / file).write_text(text)
    assert len(upward_imports(tmp_path)) == 1


def test_the_engine_may_assign_codes(tmp_path: Path) -> None:
    for name in ("codes/assign.py", "records.py", "engine/cpu.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "engine/cpu.py").write_text("from sprintrec.codes.assign import assign\nimport sprintrec.records")
    assert upward_imports(tmp_path) == []
