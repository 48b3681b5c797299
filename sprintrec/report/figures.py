"""The figures, drawn as SVG inside the page: they take its colours, so they are right by day, by night and on paper.

Strips have no fixed width: their marks stand at percentages, so they fit any column. Panels are small charts
of one size; every panel shows one entry in colour before all others in grey, so no legend is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sprintrec.report.document import Markup, tag, together

WIDTH, HEIGHT = 220, 132
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 8, 18  # what axes and their labels take of a panel
STRIP = 26

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """Round ticks from 0 up to at least the largest value."""

    ticks: tuple[float, ...]

    @property
    def end(self) -> float:
        return self.ticks[-1]

    def label(self, tick: float) -> str:
        step = self.ticks[1]
        return f"{tick:.{max(0, -math.floor(math.log10(step)))}f}" if tick else "0"


@dataclass(frozen=True)
class Mark:
    """A value on a strip, with an interval or without."""

    value: float
    kind: str  # "main", "other" or "code"
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Line:
    """One run of points of a panel; bars are intervals around them, the dot stands on one of them."""

    points: Sequence[Point]
    accent: bool = False
    bars: Sequence[tuple[float, float]] = ()
    dot: Point | None = None


def axis_to(largest: float, most_ticks: int = 5) -> Axis:
    """Steps of 1, 2 or 5 times a power of ten."""
    if largest <= 0:
        return Axis((0.0, 1.0))
    rough = largest / most_ticks
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough * (1 - 1e-9))
    return Axis(tuple(i * step for i in range(math.ceil(largest / step - 1e-9) + 1)))


# ---- strips --------------------------------------------------------------------------------------


def strip(marks: Sequence[Mark], axis: Axis, label: str) -> Markup:
    """One row of a dot plot."""
    on_top = sorted(marks, key=lambda mark: mark.kind == "main")
    grid = [tag("line", x1=_percent(t, axis), x2=_percent(t, axis), y1=0, y2=STRIP, class_="grid") for t in axis.ticks]
    return _strip_svg(STRIP, [*grid, *(_mark(mark, axis) for mark in on_top)], label)


def strip_axis(axis: Axis) -> Markup:
    """The scale above the strips."""
    last = len(axis.ticks) - 1
    labels = [
        tag("text", axis.label(tick), x=_percent(tick, axis), y=11, text_anchor=_anchor(place, last))
        for place, tick in enumerate(axis.ticks)
    ]
    return _strip_svg(14, labels, None)


def _anchor(place: int, last: int) -> str:
    return "start" if place == 0 else "end" if place == last else "middle"


def _strip_svg(height: int, parts: Sequence[Markup], label: str | None) -> Markup:
    named = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    return tag("svg", *parts, width="100%", height=height, class_="strip", **named)


def _mark(mark: Mark, axis: Axis) -> Markup:
    x, middle = _percent(mark.value, axis), STRIP / 2
    if mark.kind == "code":
        # A path knows no percentages; an inner svg does.
        diamond = tag("path", d="M0-4.5 4.5 0 0 4.5-4.5 0Z", class_="mark code")
        return tag("svg", diamond, x=x, y=middle, overflow="visible")
    dot = tag("circle", cx=x, cy=middle, r=4 if mark.kind == "main" else 3.5, class_=f"mark {mark.kind}")
    if mark.interval is None:
        return dot
    low, high = (_percent(end, axis) for end in mark.interval)
    return together([tag("line", x1=low, x2=high, y1=middle, y2=middle, class_=f"bar {mark.kind}"), dot])


def _percent(value: float, axis: Axis) -> str:
    return f"{100 * value / axis.end:.2f}%"


# ---- panels --------------------------------------------------------------------------------------


def panel(lines: Sequence[Line], y: Axis, x_labels: Sequence[tuple[float, str]], x_end: float, label: str) -> Markup:
    """A small chart; lines in grey first, the one in colour on top."""
    ordered = sorted(lines, key=lambda line: line.accent)
    parts = [
        *(_y_tick(tick, y) for tick in y.ticks),
        *(_x_tick(place, text, x_end) for place, text in x_labels),
        *(_line(line, y, x_end) for line in ordered),
    ]
    return tag("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="panel", role="img", aria_label=label)


def _y_tick(tick: float, y: Axis) -> Markup:
    height = _y(tick, y)
    line = tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=height, y2=height, class_="grid" if tick else "axis")
    return together([line, tag("text", y.label(tick), x=LEFT - 5, y=_short(float(height) + 3.5), text_anchor="end")])


def _x_tick(place: float, text: str, x_end: float) -> Markup:
    return tag("text", text, x=_x(place, x_end), y=HEIGHT - 5, text_anchor="middle", class_="small")


def _line(line: Line, y: Axis, x_end: float) -> Markup:
    kind = "accent" if line.accent else "behind"
    dots = " ".join(f"{_x(px, x_end)},{_y(py, y)}" for px, py in line.points)
    parts = [tag("polyline", points=dots, class_=f"line {kind}")]
    for (px, _), (low, high) in zip(line.points, line.bars, strict=bool(line.bars)):
        x = _x(px, x_end)
        parts.append(tag("line", x1=x, x2=x, y1=_y(low, y), y2=_y(high, y), class_=f"bar {kind}"))
    if line.dot:
        parts.append(tag("circle", cx=_x(line.dot[0], x_end), cy=_y(line.dot[1], y), r=3, class_="mark main"))
    return together(parts)


def _x(value: float, end: float) -> str:
    return _short(LEFT + (WIDTH - LEFT - RIGHT) * (value / end if end else 0.5))


def _y(value: float, axis: Axis) -> str:
    return _short(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / axis.end)


def _short(number: float) -> str:
    return f"{number:.1f}"
