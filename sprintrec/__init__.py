"""sprintrec: train, measure and serve SPRINT, a single-step generative recommender."""

from typing import Any

__version__ = "0.1.0"

# What people import from here, and where it lives: loaded when asked for, so that the name alone costs nothing.
_PUBLIC = {
    "Mistake": "sprintrec.errors",
    "ReadOptions": "sprintrec.tables",
    "Recommendation": "sprintrec.recommender",
    "Recommender": "sprintrec.recommender",
    "WorkFailed": "sprintrec.errors",
}
__all__ = ["Mistake", "ReadOptions", "Recommendation", "Recommender", "WorkFailed", "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sprintrec' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)
