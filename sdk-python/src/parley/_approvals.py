"""Asking named people whether exactly one call may run."""

from __future__ import annotations

import base64
import functools
import inspect
import json
import random
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar, cast
from urllib.parse import quote

from ._consent import consent_digest, copy_of
from ._errors import (
    ApprovalMismatch,
    ApprovalRejected,
    ApprovalUndecided,
    ParleyError,
    UnknownPerson,
)
from ._http import Connection

_A2H = "/a2h/v1alpha1"
_HOLD_SECONDS = 25
"""How long the server is asked to hold one read."""
_FIRST_SECONDS = 20.0
"""How long a server that cannot be reached is tried where somebody is to be asked."""
_GRACE_SECONDS = 60.0
"""How long it is tried for what was asked already."""
_NAME_OF_CHANNEL = re.compile(r"[a-z][a-z0-9_-]{0,63}")

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Decision:
    """A call that was approved."""

    id: str
    """The id of the request: its idempotency key."""
    fn: str
    args: Mapping[str, Any]
    """The arguments that were approved, and that are to run."""
    edited: bool
    """Whether whoever approved has changed the arguments."""
    by: Mapping[str, Any]
    """Who approved: `name`, `via`, and for people who are enrolled `id`; where several had to, the last of them."""
    comment: Optional[str]
    digest: str
    """The digest of `fn` and `args` that was shown, approved, and compared with them here."""
    receipt: str
    """The signed receipt, which `parley verify` checks."""
    receipt_url: str
    """Where it stands as long as the server keeps the request."""


def ask_approval(connection: Connection, fn: str, args: Mapping[str, Any], more: Mapping[str, Any]) -> Decision:
    """Asks, waits, and returns the decision; what `Parley.approve` promises."""
    copied = cast("dict[str, Any]", copy_of(args))
    call_id = str(more.get("idempotency_key") or uuid.uuid4())
    spec = {
        "fn": fn,
        "kwargs": copied,
        "msg": more.get("reason"),
        "channel": _channel(connection, more.get("to"), more.get("channel")),
        "reject_options": more.get("reject_options"),
        "timeout_seconds": more.get("timeout_seconds"),
        "editable": more.get("editable") or None,
        "kwargs_schema": more.get("args_schema"),
    }
    body = {"run_id": "sdk", "call_id": call_id, "spec": {k: v for k, v in spec.items() if v is not None}}
    call = _persist(lambda: connection.send("POST", f"{_A2H}/function_calls", body), _FIRST_SECONDS)
    return _decision(connection, _settled(connection, call_id, call), fn, copied)


def read_decision(connection: Connection, call_id: str) -> Decision:
    """Waits for what was asked before; what `Parley.decision` promises."""
    call = _persist(lambda: connection.send("GET", _path(call_id)), _GRACE_SECONDS)
    spec = call["spec"]
    return _decision(connection, _settled(connection, call_id, call), spec["fn"], spec["kwargs"])


def withdraw(connection: Connection, call_id: str, reason: Optional[str]) -> None:
    path = f"{_A2H}/agent/function_calls/{quote(call_id, safe='')}/cancel"
    _persist(lambda: connection.send("POST", path, {} if reason is None else {"reason": reason}), _FIRST_SECONDS)


def guarded(function: Function, name: str, ask: Callable[[str, Mapping[str, Any]], Decision]) -> Function:
    """Returns the function behind an approval; what `Parley.require_approval` promises."""
    signature = inspect.signature(function)
    rest: Optional[str] = None
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"{parameter.name} of {name} has no name that people could read: make it a keyword.")
        if parameter.kind is parameter.VAR_KEYWORD:
            rest = parameter.name

    @functools.wraps(function)
    def behind(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        # What was left out runs, too.
        bound.apply_defaults()
        given = dict(bound.arguments)
        given.update(given.pop(rest) if rest is not None else {})
        return function(**ask(name, given).args)

    return cast("Function", behind)


def _decision(connection: Connection, call: Mapping[str, Any], fn: str, wanted: Mapping[str, Any]) -> Decision:
    """Raises NotApproved unless exactly this was approved, or what a person made of it who was allowed to."""
    status: Mapping[str, Any] = call["status"]
    if status.get("expired") or status.get("cancelled"):
        raise ApprovalUndecided(call)
    if status.get("approved") is not True:
        raise ApprovalRejected(call)
    edited = bool(call["spec"].get("editable")) and status.get("edited") is True
    args: Mapping[str, Any] = status["kwargs"] if edited else wanted
    digest = consent_digest(fn, args)
    path = f"/receipts/{quote(str(status['ask_id']), safe='')}"
    receipt: str = _persist(lambda: connection.read_text(path), _GRACE_SECONDS)
    said = _payload(receipt)
    seen = (said.get("outcome"), said.get("call_id"), said.get("consent_digest"), status.get("consent_digest"))
    if seen != ("approved", call["call_id"], digest, digest):
        raise ApprovalMismatch(call)
    return Decision(
        id=call["call_id"],
        fn=fn,
        args=args,
        edited=edited,
        by=status.get("user_info", {}),
        comment=status.get("comment"),
        digest=digest,
        receipt=receipt,
        receipt_url=connection.address_of(path),
    )


def _payload(receipt: str) -> Mapping[str, Any]:
    """Returns what a receipt says. Its signature is for those who did not hear it from the server itself."""
    try:
        part = receipt.split(".")[1]
        return cast("Mapping[str, Any]", json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))
    except (IndexError, ValueError):
        return {}


def _settled(connection: Connection, call_id: str, call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the call once it is over. A server that goes away meanwhile is tried for a minute past the deadline."""
    while "resolved_at" not in call["status"]:
        start = time.monotonic()
        path = f"{_path(call_id)}?wait={_HOLD_SECONDS}"
        left = call["spec"].get("timeout_seconds", 259_200) + _GRACE_SECONDS
        call = _persist(lambda: connection.send("GET", path, timeout=_HOLD_SECONDS + 15), left)
        # A server that does not hold reads must not be asked in a tight loop.
        if "resolved_at" not in call["status"] and time.monotonic() - start < 1:
            time.sleep(1)
    return call


def _persist(send: Callable[[], Any], seconds: float) -> Any:
    """Returns what `send` does; while the server is away or failing it is tried again, for that many seconds."""
    until = time.monotonic() + seconds
    while True:
        try:
            return send()
        except ParleyError as error:
            pause = max(error.retry_after or 0, random.uniform(1, 4))
            is_passing = error.status in (0, 429) or error.status >= 500
            if not is_passing or time.monotonic() + pause > until:
                raise
        time.sleep(pause)


def _channel(connection: Connection, to: Optional[str], channel: Optional[Mapping[str, Any]]) -> Any:
    if to is None:
        return channel
    if channel is not None:
        raise TypeError("Say whom to ask by `to` or by `channel`, and not by both.")
    return {"channel_id": _channel_id(connection, to)}


def _channel_id(connection: Connection, to: str) -> str:
    """Returns the id of whom a number, a group, a person's exact name or a channel's name stands for, in this order."""
    if to.isascii() and to.isdigit():
        return to
    groups = _persist(lambda: connection.send("GET", f"{_A2H}/groups"), _FIRST_SECONDS)["groups"]
    if any(group["name"] == to for group in groups):
        return to
    has_words = any(letter.isalnum() for letter in to)
    found: Sequence[str] = _humans_called(connection, to) if has_words else ()
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownPerson(f"Several people are called {to}; name one by id: {', '.join(found)}.")
    # The names of channels are the operator's secret: the server says whether there is one.
    if _NAME_OF_CHANNEL.fullmatch(to):
        return to
    raise UnknownPerson(f"Nobody is called {to}.")


def _humans_called(connection: Connection, name: str) -> Sequence[str]:
    search = f"{_A2H}/humans/search?limit=200&q={quote(name, safe='')}"
    found: list[str] = []
    path: Optional[str] = search
    while path is not None:
        at: str = path
        page = _persist(lambda: connection.send("GET", at), _FIRST_SECONDS)
        found += [human["id"] for human in page["humans"] if human["name"] == name]
        cursor = page.get("nextCursor")
        path = None if cursor is None else f"{search}&cursor={quote(str(cursor), safe='')}"
    return found


def _path(call_id: str) -> str:
    return f"{_A2H}/function_calls/{quote(call_id, safe='')}"
