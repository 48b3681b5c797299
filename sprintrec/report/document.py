"""HTML by construction: whatever is not ``Markup`` already is escaped where it enters a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

VOID = ("meta", "line", "circle", "rect", "path", "polyline")


class Markup(str):
    """Text that is HTML already."""


def tag(name: str, /, *inside: object, **attributes: object) -> Markup:
    """An element; attributes that are None are left out, ``class_`` and ``text_anchor`` lose their underscores."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{shown}/>")
    return Markup(f"<{name}{shown}>{together(inside)}</{name}>")


def together(parts: Iterable[object], between: Markup | None = None) -> Markup:
    """Parts in a row, those that are no markup escaped."""
    return Markup((between or "").join(part if isinstance(part, Markup) else escape(str(part)) for part in parts))


def section(title: str, note: object, *inside: object) -> Markup:
    """A part of the report: what it is and how to read it stand beside it."""
    beside = tag("header", tag("h3", title), tag("p", note))
    return tag("section", beside, tag("div", *inside, class_="body"))


@dataclass(frozen=True)
class Head:
    """A column's heading."""

    title: object
    text: bool = False  # words, which stand to the left; numbers stand to the right
    span: int = 1
    class_: str | None = None


def table(
    caption: object, heads: Sequence[Sequence[Head]], rows: Sequence[Sequence[object]], foot: object = None
) -> Markup:
    """A table that scrolls within itself where the page is narrow. The first cell of a row names it."""
    columns = heads[-1]
    body = [tag("tr", _row_head(row[0]), *map(_cell, columns[1:], row[1:])) for row in rows]
    grid = tag(
        "table",
        tag("caption", caption),
        tag("thead", *(tag("tr", *map(_head, line)) for line in heads)),
        tag("tbody", *body),
    )
    note = () if foot is None else (tag("p", foot, class_="foot"),)
    return tag("div", tag("div", grid, class_="scroll", role="region", tabindex=0, aria_label=str(caption)), *note)


def _head(head: Head) -> Markup:
    kind = " ".join(filter(None, ("words" if head.text else "", "group" if head.span > 1 else "", head.class_ or "")))
    spans = head.span if head.span > 1 else None
    return tag("th", head.title, scope="colgroup" if spans else "col", colspan=spans, class_=kind or None)


def _row_head(cell: object) -> Markup:
    return tag("th", cell, scope="row")


def _cell(head: Head, cell: object) -> Markup:
    return tag("td", cell, class_=" ".join(filter(None, ("words" if head.text else "", head.class_ or ""))) or None)


def number(value: float | None, shown: str, under: str = "", best: bool = False) -> Markup:
    """A figure with its exact value in the markup, what is uncertain about it beneath, the best of a column bold."""
    if value is None:
        return NOTHING
    plain = tag("data", shown, value=repr(value))
    figure = tag("b", plain) if best else plain
    return together([figure, tag("small", under)]) if under else figure


NOTHING = tag("span", "–", class_="none")  # in a table, where there is no figure
