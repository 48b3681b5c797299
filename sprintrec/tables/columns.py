"""Which column is what: by flag, by what the format fixes, or by a name that people use for it.

The decision is one sentence, kept in the log's notes, so nobody has to guess what was read.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sprintrec.errors import Mistake, nearest
from sprintrec.tables.options import NO_COLUMN, ReadOptions

ROLES = ("user", "item", "time", "rating", "event_type")
NEEDED = ("user", "item")
# Lower case, letters and digits alone; the first that is there is taken.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "user": (
        *("userid", "user", "uid", "reviewerid", "customerid", "customer", "visitorid", "clientid", "memberid"),
        *("accountid", "profileid", "buyerid", "playerid", "readerid", "username", "sessionid", "session"),
    ),
    "item": (
        *("itemid", "item", "iid", "parentasin", "asin", "productid", "product", "movieid", "movie", "articleid"),
        *("article", "newsid", "trackid", "songid", "artistid", "bookid", "isbn", "businessid", "gameid", "appid"),
        *("videoid", "recipeid", "contentid", "goodsid", "sku"),
    ),
    "time": (
        *("timestamp", "unixreviewtime", "time", "ts", "datetime", "date", "eventtime", "eventtimestamp"),
        *("unixtime", "createdat", "occurredat", "orderdate", "purchasedate"),
    ),
    "rating": ("rating", "overall", "stars", "score", "rate", "weight"),
    "event_type": ("eventtype", "event", "feedbacktype", "behavior", "behaviortype", "action", "actiontype", "type"),
    "items_id": ("id",),  # in an item list alone, after the names of the role item
}


@dataclass(frozen=True)
class Choice:
    """The column of every role; None where there is none or none is wanted."""

    user: str
    item: str
    time: str | None
    rating: str | None
    event_type: str | None
    sentence: str

    @property
    def wanted(self) -> list[str]:
        return [name for name in (self.user, self.item, self.time, self.rating, self.event_type) if name is not None]


def choose(
    source: str, columns: Sequence[str], options: ReadOptions, fixed: Mapping[str, str] | None = None, advice: str = ""
) -> Choice:
    """The column of every role of a file of events; ``fixed`` is what the format itself says."""
    chosen: dict[str, str | None] = {}
    for role in ROLES:
        flag, wanted = f"--{role.replace('_', '-')}", getattr(options, role)
        chosen[role] = _column(source, columns, role, wanted, flag, fixed or {})
        if chosen[role] is None and role in NEEDED:
            raise _missing(source, columns, role, flag, advice)
    user, item = chosen["user"], chosen["item"]
    assert user is not None
    assert item is not None
    if user == item:
        raise Mistake(f"{source}: column '{user}' can't be both user and item: name the other with --user or --item")
    sentence = _sentence(source, columns, chosen)
    return Choice(user, item, chosen["time"], chosen["rating"], chosen["event_type"], sentence)


def choose_items_id(source: str, columns: Sequence[str], options: ReadOptions, fixed: str | None) -> str:
    """The column of an item list that holds the item's id."""
    if options.items_id is None and options.item in columns:
        return str(options.item)
    taken = _column(source, columns, "item", options.items_id, "--items-id", {"item": fixed} if fixed else {})
    taken = taken or _by_alias(columns, "items_id")
    if taken is None:
        raise _missing(source, columns, "item", "--items-id", "")
    return taken


def is_known(column: str) -> bool:
    """Whether a word is a name that people give to a column of any role."""
    return any(plain(column) in names for names in ALIASES.values())


def plain(column: str) -> str:
    """A name without case, signs and a RecBole type: ``USER_ID`` and ``user_id:token`` are ``userid``."""
    return re.sub(r"[^a-z0-9]", "", column.split(":")[0].lower())


def _column(
    source: str, columns: Sequence[str], role: str, wanted: str | None, flag: str, fixed: Mapping[str, str]
) -> str | None:
    if wanted == NO_COLUMN and role not in NEEDED:
        return None
    if wanted is None:
        return fixed[role] if role in fixed else _by_alias(columns, role)
    if wanted not in columns:
        raise Mistake(f"{source} has no column '{wanted}' ({flag}): {nearest(wanted, columns)}")
    return wanted


def _by_alias(columns: Sequence[str], role: str) -> str | None:
    by_name = {plain(column): column for column in reversed(columns)}
    return next((by_name[alias] for alias in ALIASES[role] if alias in by_name), None)


def _missing(source: str, columns: Sequence[str], role: str, flag: str, advice: str) -> Mistake:
    by_name = {plain(column): column for column in columns}
    # What plainly is something else is no advice: a user column named as the item would train nonsense.
    spoken_for = {alias for other, aliases in ALIASES.items() if other != role for alias in aliases}
    close = [
        (difflib.SequenceMatcher(None, name, alias).ratio(), column, alias)
        for name, column in by_name.items()
        if name not in spoken_for
        for alias in ALIASES[role]
    ]
    ratio, column, alias = max(close, default=(0.0, "", ""))
    example = f"{flag} {column} ('{column}' looks like '{alias}')" if ratio >= 0.6 else f"{flag} NAME"
    found = ", ".join(f"'{column}'" for column in columns)
    return Mistake(f"{source} has no column for the {role}: found {found}; name it with {example}{advice}")


def _sentence(source: str, columns: Sequence[str], chosen: Mapping[str, str | None]) -> str:
    taken = []
    for role, column in chosen.items():
        others = [name for name in columns if name != column and plain(name) in ALIASES[role]] if column else []
        instead = f" (not {', '.join(map(repr, others))})" if others else ""
        taken.append(f"{role.replace('_', ' ')} from {column!r}{instead}" if column else f"no {role.replace('_', ' ')}")
    return f"{source}: {', '.join(taken)}."
