"""Asking named people, and waiting until what they were asked is over."""

from __future__ import annotations

import math
import random
import time
from datetime import datetime
from typing import Any, Callable, Mapping, Optional, cast
from urllib.parse import quote

from ._errors import ParleyError, bad_reply
from ._http import Connection
from ._inquiries import TOO_LATE, AskedBack, AsyncOnInquiry, new_inquiries
from ._steps import Answer, Pause, Steps, T

A2H = "/a2h/v1alpha1"
"""Where the server speaks A2H."""
_HOLD_SECONDS = 25
"""How long the server is asked to hold one read."""
_FIRST_SECONDS = 20.0
"""How long a server that cannot be reached is tried where somebody is to be asked."""
AWAY_SECONDS = 60.0
"""How long it is tried past a request's deadline, and for what is read or reported of a request that is over."""


def request(
    connection: Connection, path: str, body: Mapping[str, Any], seconds: float = _FIRST_SECONDS
) -> Steps[Any]:
    """Returns what the server made of a request, which names itself, so that it is asked once however often it is sent."""
    given = {name: value for name, value in body.items() if value is not None}
    return persist(lambda: connection.send("POST", A2H + path, given), seconds)


def read(connection: Connection, path: str) -> Steps[Any]:
    """Returns what stands on the server, which may be on its way back."""
    return persist(lambda: connection.send("GET", path), AWAY_SECONDS)


def read_text(connection: Connection, path: str) -> Steps[str]:
    """As `read`, for what is no JSON."""
    return persist(lambda: connection.read_text(path), AWAY_SECONDS)


def outcome(
    connection: Connection,
    path: str,
    named: str,
    first: Optional[Mapping[str, Any]] = None,
    *,
    id_member: str = "call_id",
    on_inquiry: Optional[AsyncOnInquiry] = None,
) -> Steps[Mapping[str, Any]]:
    """Returns the request of that id once it is over. Raises ParleyError for a reply that is of another, or of none.

    A server that goes away meanwhile is tried again until the deadline has passed, and for ever where there is none.
    Each inquiry is answered once by `on_inquiry`, and the wait goes on after it.
    """
    latest = _of_this((yield from read(connection, A2H + path)) if first is None else first, named, id_member)
    held = f"{A2H}{path}?wait={_HOLD_SECONDS}"
    seen: set[str] = set()
    while not _is_over(latest):
        for inquiry in new_inquiries(latest["status"], seen) if on_inquiry else ():
            yield from _answer(connection, cast("AsyncOnInquiry", on_inquiry), inquiry)
        start = time.monotonic()
        left = _seconds_left(latest) + AWAY_SECONDS
        reply = yield from persist(lambda: connection.send("GET", held, timeout=_HOLD_SECONDS + 15), left)
        latest = _of_this(reply, named, id_member)
        # A server that does not hold reads must not be asked in a tight loop.
        if not _is_over(latest) and time.monotonic() - start < 1:
            yield Pause(1)
    return latest


def _answer(connection: Connection, give: AsyncOnInquiry, inquiry: AskedBack) -> Steps[None]:
    text = yield Answer(give, inquiry)
    if not text or not text.strip():
        return
    try:
        yield from request(connection, f"/inquiries/{quote(inquiry.id, safe='')}/answer", {"text": text})
    except ParleyError as error:
        if error.code not in TOO_LATE:
            raise


def persist(send: Callable[[], Steps[T]], seconds: float) -> Steps[T]:
    """Returns what `send` does; while the server is away or failing it is tried again, for that many seconds."""
    until = time.monotonic() + seconds
    while True:
        try:
            return (yield from send())
        except ParleyError as error:
            pause = max(error.retry_after or 0, random.uniform(1, 4))
            is_passing = error.status in (0, 429) or error.status >= 500
            if not is_passing or time.monotonic() + pause > until:
                raise
        yield Pause(pause)


def _of_this(reply: Any, named: str, id_member: str) -> Mapping[str, Any]:
    of: Mapping[str, Any] = cast("Mapping[str, Any]", reply) if isinstance(reply, dict) else {}
    if not isinstance(of.get("status"), dict) or not isinstance(of.get("spec"), dict):
        raise bad_reply(200)
    # A message has its id among its metadata.
    metadata: Any = of.get("metadata")
    known = cast("Mapping[str, Any]", metadata).get("uid") if isinstance(metadata, dict) else of.get(id_member)
    if known != named:
        raise bad_reply(200, "The server answered for another request.")
    return of


def _is_over(asked: Mapping[str, Any]) -> bool:
    """True once nobody can decide or answer any more."""
    status: Mapping[str, Any] = asked["status"]
    return "responded_at" in status or bool(status.get("expired") or status.get("cancelled"))


def _seconds_left(asked: Mapping[str, Any]) -> float:
    """Returns the time up to a request's deadline, which is endless where it has none."""
    expires_at = asked["status"].get("expires_at")
    if expires_at is None:
        return math.inf
    return datetime.fromisoformat(expires_at.replace("Z", "+00:00")).timestamp() - time.time()
