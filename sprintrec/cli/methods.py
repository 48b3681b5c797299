"""``sprintrec methods``: every method found, in a table."""

from __future__ import annotations

import sys
from typing import Any

from sprintrec.cli.extras import what_to_type
from sprintrec.cli.output import Json, emit, table

FLAGS = {
    "uses_codes": "codes",
    "uses_vectors": "vectors",
    "ranks_cold_items": "cold items",
    "trained_by_gradient": "gradient",
}


def methods(as_json: Json = False) -> None:
    """List every method and what it can do."""
    from sprintrec.method import method_names

    rows = [_described(name) for name in method_names()]
    columns = ("method", *FLAGS.values(), "about")
    cells = [[row["method"], *(row.get(flag) for flag in FLAGS), row["about"]] for row in rows]
    emit({"methods": rows}, as_json, lambda: table(columns, cells))


def _described(name: str) -> dict[str, Any]:
    """A method's flags and the first line of its file; without the flags where a library of its is missing."""
    from sprintrec.method import find_method

    try:
        found = find_method(name)
    except ModuleNotFoundError as error:
        return {"method": name, "about": f"needs {error.name}: type {what_to_type(error.name or '')}"}
    about = (sys.modules[found.__module__].__doc__ or "").strip().splitlines()
    return {"method": name, **{flag: getattr(found, flag) for flag in FLAGS}, "about": about[0] if about else ""}
