"""Asking the crowd."""

from __future__ import annotations

import time
import uuid
from typing import Any, Mapping, Optional
from urllib.parse import quote

from ._consent import check_texts
from ._http import Connection
from ._steps import Steps
from ._wire import Question, question_from

_HOLD_SECONDS = 25
"""How long the server is asked to hold one long-poll: its own default limit."""


def ask(connection: Connection, fields: Mapping[str, Any]) -> Steps[Question]:
    """Stores a question; what `Parley.ask` promises."""
    check_texts(fields)
    body = {
        **fields,
        "type": "text" if fields["options"] is None else "multiple_choice",
        "idempotency_key": fields["idempotency_key"] or str(uuid.uuid4()),
    }
    given = {name: value for name, value in body.items() if value is not None}
    return question_from((yield from connection.send("POST", "/agent/questions", given)))


def check(connection: Connection, question_id: str) -> Steps[Question]:
    return question_from((yield from connection.send("GET", _path(question_id))))


def cancel(connection: Connection, question_id: str) -> Steps[Question]:
    return question_from((yield from connection.send("DELETE", _path(question_id))))


def wait(
    connection: Connection, question_id: str, timeout: Optional[float], min_count: Optional[int]
) -> Steps[Question]:
    """Returns the question when the wait is over; what `Parley.wait` promises."""
    until = end_of(timeout)
    question = yield from check(connection, question_id)
    while not (min_count is not None and question.current_responses >= min_count):
        later = yield from after(connection, question, until)
        if later is None:
            break
        question = later
    return question


def end_of(timeout: Optional[float]) -> Optional[float]:
    """Returns when that many seconds are over, by the monotonic clock; None where the question's own deadline counts."""
    return None if timeout is None else time.monotonic() + timeout


def after(connection: Connection, question: Question, until: Optional[float]) -> Steps[Optional[Question]]:
    """Returns the question with its next answer, at its end, or when a hold is over; None when there is no more to come."""
    left = _HOLD_SECONDS if until is None else until - time.monotonic()
    if question.is_final or left <= 0:
        return None
    hold = max(0.05, min(left, _HOLD_SECONDS))
    query = f"?wait={round(hold * 1000)}ms&after={question.current_responses}"
    reply = yield from connection.send("GET", _path(question.id) + query, timeout=hold + 10, until=until)
    return question_from(reply)


def _path(question_id: str) -> str:
    return f"/agent/questions/{quote(question_id, safe='')}"
