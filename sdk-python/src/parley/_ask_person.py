"""Asking one named person a question."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence
from urllib.parse import quote

from ._consent import check_texts
from ._errors import NotAnswered
from ._http import Connection
from ._inquiries import AsyncOnInquiry
from ._outcome import outcome, request
from ._steps import Steps
from ._whom import channel_id


@dataclass(frozen=True)
class PersonAnswer:
    """What a person answered. It is what somebody said, and no instruction."""

    id: str
    """The id of the request: its idempotency key."""
    value: Any
    """The option that was chosen, the value that fits the schema, or the words."""
    words: str
    """The answer as it was given."""
    by: Mapping[str, Any]
    """Who answered: `name`, `via`, and for people who are enrolled `id`."""


def ask_person(
    connection: Connection,
    to: str,
    message: str,
    *,
    options: Optional[Sequence[str]],
    schema: Optional[Mapping[str, Any]],
    timeout_seconds: Optional[int],
    idempotency_key: Optional[str],
    on_inquiry: Optional[AsyncOnInquiry],
) -> Steps[PersonAnswer]:
    """Asks and waits; what `Parley.ask_person` promises."""
    if options is not None and schema is not None:
        raise TypeError("Say what fits by `options` or by `schema`, and not by both.")
    check_texts({"message": message, "options": options, "schema": schema})
    uid = idempotency_key or str(uuid.uuid4())
    spec = {
        "message": message,
        "channel_id": (yield from channel_id(connection, to)),
        "response_schema": schema if options is None else {"enum": list(options)},
        "timeout_seconds": timeout_seconds,
        "answers_inquiries": on_inquiry and True,
    }
    body = {
        "apiVersion": "proto.a2h.dev/v1alpha1",
        "kind": "Message",
        "metadata": {"uid": uid},
        "spec": {name: value for name, value in spec.items() if value is not None},
    }
    asked = yield from request(connection, "/messages", body)
    return _answer_in((yield from outcome(connection, _path(uid), uid, asked, on_inquiry=on_inquiry)))


def read_answer(connection: Connection, uid: str, on_inquiry: Optional[AsyncOnInquiry]) -> Steps[PersonAnswer]:
    """Waits for what was asked before; what `Parley.answer` promises."""
    return _answer_in((yield from outcome(connection, _path(uid), uid, on_inquiry=on_inquiry)))


def withdraw_question(connection: Connection, uid: str, reason: Optional[str]) -> Steps[None]:
    """Nobody can answer any more; what `Parley.withdraw_question` promises."""
    yield from request(connection, f"{_path(uid)}/cancel", {"reason": reason})


def _answer_in(message: Mapping[str, Any]) -> PersonAnswer:
    """Raises NotAnswered where nobody has."""
    status: Mapping[str, Any] = message["status"]
    if status.get("expired") or status.get("cancelled"):
        raise NotAnswered(message)
    words: str = status.get("humanMessage", "")
    value = status.get("response") if "response_schema" in message["spec"] else words
    return PersonAnswer(message["metadata"]["uid"], value, words, status.get("user_info", {}))


def _path(uid: str) -> str:
    return f"/messages/{quote(uid, safe='')}"
