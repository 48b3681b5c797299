"""How a report spells numbers, levels, protocols and metrics: the same in sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sprintrec.metrics import CUTS

CUTS_SHOWN = (5, 10, 20)
SHORT = {"recall": "R", "ndcg": "N", "mrr": "MRR"}
METRIC_NAMES = {f"{name}@{cut}": f"{short}@{cut}" for cut in CUTS for name, short in SHORT.items()}
METRICS_SHOWN = tuple(f"{name}@{cut}" for cut in CUTS_SHOWN for name in SHORT)

LEVEL_TITLES = {
    "item": "Per item, seen items excluded",
    "item_seen_kept": "Per item, seen items kept",
    "code": "Per code, nothing excluded",
}
PROTOCOL_TITLES = {"last-out": "leave-last-out", "time": "by global time", "cold-items": "cold items"}


def per_level(level: str) -> str:
    return {"item": "per item", "item_seen_kept": "per item with seen items kept", "code": "per code"}[level]


def figure(value: float, digits: int = 4) -> str:
    """0.0581, with a true minus."""
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 4) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def percent_more(ours: float, theirs: float) -> str:
    """By how much ours is above theirs; below is minus."""
    more = round(100 * (ours / theirs - 1))
    return f"{signed(more, 0)} %" if more else "±0 %"


def range_of(interval: tuple[float, float], digits: int = 4) -> str:
    return f"{figure(interval[0], digits)} to {figure(interval[1], digits)}"


def p_value(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.0995 else f"p = {p:.2f}"


def joined(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def distinct_codes(codes: Mapping[str, Any]) -> str:
    """How many codes the items share: without it no figure per code means anything."""
    return f"{codes['distinct']:,} codes for {codes['items']:,} items"


def shortened(text: str, limit: int = 70) -> str:
    """A long title cut at a word."""
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"
