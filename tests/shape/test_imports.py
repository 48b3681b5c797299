"""What may be imported where: training needs torch, numpy and safetensors alone; names and help need nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sprintrec"
BARE = {"numpy", "torch", "safetensors", "sprintrec"}

# Hides every installed package but those named and what these need, as on a machine that has nothing else.
ON_A_BARE_MACHINE = """
import importlib, re, sys
from importlib import metadata

def needed(names):
    todo, found = list(names), set()
    while todo:
        name = re.sub("[-_.]+", "-", todo.pop()).lower()
        if name not in found:
            found.add(name)
            try:
                lines = metadata.requires(name) or []
            except metadata.PackageNotFoundError:
                continue
            todo += [re.match("[A-Za-z0-9._-]+", line)[0] for line in lines if "extra ==" not in line]
    return found

class Hidden:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        owners = {re.sub("[-_.]+", "-", owner).lower() for owner in OWNERS.get(top, ())}
        if owners and not owners & KEPT:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)

OWNERS = metadata.packages_distributions()
KEPT = needed(["numpy", "torch", "safetensors"]) | {"sprintrec"}
sys.meta_path.insert(0, Hidden())
for module in sys.argv[1:]:
    importlib.import_module(module)
"""

LOADED_BY = """
import sys
before = set(sys.modules)
{statement}
print(*sorted({{name.split(".")[0] for name in set(sys.modules) - before}} - set(sys.stdlib_module_names)))
"""


def trained_modules() -> list[str]:
    """What must work where only torch, numpy and safetensors are: the experiment and every method."""
    files = [PACKAGE / "method.py", PACKAGE / "experiment.py", *sorted((PACKAGE / "methods").glob("*.py"))]
    return [dotted(file) for file in files if file.is_file()]


def dotted(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def file_of(module: str) -> Path | None:
    path = ROOT / Path(*module.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(modules: list[str]) -> dict[str, set[str]]:
    """Per foreign top-level name the files of ours that import it, following our own imports all the way."""
    todo, seen, foreign = list(modules), set[str](), dict[str, set[str]]()
    while todo:
        module = todo.pop()
        file = file_of(module)
        if file is None or module in seen:
            continue
        seen.add(module)
        for name in imported(file):
            if name.split(".")[0] == "sprintrec":
                todo.append(name)
            else:
                foreign.setdefault(name.split(".")[0], set()).add(module)
    return foreign


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT)


def test_training_names_only_torch_numpy_safetensors() -> None:
    known = BARE | sys.stdlib_module_names
    assert {name: files for name, files in reached(trained_modules()).items() if name not in known} == {}


def test_training_imports_on_a_bare_machine() -> None:
    done = python(ON_A_BARE_MACHINE, *trained_modules())
    assert done.returncode == 0, done.stderr


def test_the_bare_machine_is_bare() -> None:
    assert "No module named 'rich'" in python(ON_A_BARE_MACHINE, "rich").stderr


@pytest.mark.parametrize("statement", ["import sprintrec", "import sprintrec.errors, sprintrec.settings"])
def test_names_alone_load_nothing_foreign(statement: str) -> None:
    assert set(python(LOADED_BY.format(statement=statement)).stdout.split()) <= {"sprintrec"}


def test_the_help_loads_nothing_heavy() -> None:
    help_ = (
        "import sprintrec.cli, contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()): sprintrec.cli.main([])"
    )
    loaded = set(python(LOADED_BY.format(statement=help_)).stdout.split())
    assert "typer" in loaded
    assert not loaded & {"numpy", "torch", "polars", "faiss", "matplotlib", "safetensors", "sentence_transformers"}
