"""Whom a name stands for."""

from __future__ import annotations

import re
from typing import Optional, Sequence
from urllib.parse import quote

from ._errors import UnknownPerson
from ._http import Connection
from ._outcome import A2H, read
from ._steps import Steps

_NAME_OF_CHANNEL = re.compile(r"[a-z][a-z0-9_-]{0,63}")


def channel_id(connection: Connection, to: str) -> Steps[str]:
    """Returns the id of whom a number, a group, a person's exact name or a channel's name stands for, in this order."""
    if to.isascii() and to.isdigit():
        return to
    groups = (yield from read(connection, f"{A2H}/groups"))["groups"]
    if any(group["name"] == to for group in groups):
        return to
    has_words = any(letter.isalnum() for letter in to)
    found: Sequence[str] = (yield from _humans_called(connection, to)) if has_words else ()
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownPerson(f"Several people are called {to}; name one by id: {', '.join(found)}.")
    # The names of channels are the operator's secret: the server says whether there is one.
    if _NAME_OF_CHANNEL.fullmatch(to):
        return to
    raise UnknownPerson(f"Nobody is called {to}.")


def _humans_called(connection: Connection, name: str) -> Steps[Sequence[str]]:
    search = f"{A2H}/humans/search?limit=200&q={quote(name, safe='')}"
    found: list[str] = []
    path: Optional[str] = search
    while path is not None:
        page = yield from read(connection, path)
        found += [human["id"] for human in page["humans"] if human["name"] == name]
        cursor = page.get("nextCursor")
        path = None if cursor is None else f"{search}&cursor={quote(str(cursor), safe='')}"
    return found
