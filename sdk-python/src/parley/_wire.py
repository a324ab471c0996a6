"""What the server says, as Python values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Mapping, Optional, Sequence


@dataclass(frozen=True)
class Response:
    """What one person said."""

    answer: Optional[str] = None
    """The words, for a text question."""
    selected_option: Optional[int] = None
    """The place of the chosen option, from 0, for a multiple choice."""
    option: Optional[str] = None
    """The chosen option's text."""
    confidence: Optional[int] = None
    """How sure they were, 1 to 5, where they said."""


@dataclass(frozen=True)
class Question:
    """A question as it stood when the server was asked."""

    id: str
    status: str
    """`OPEN`, `PARTIAL`, `CLOSED` or `EXPIRED`."""
    expires_at: datetime
    created_at: Optional[datetime] = None
    closed_at: Optional[datetime] = None
    prompt: str = ""
    type: str = "text"
    options: Sequence[str] = ()
    required_responses: int = 0
    current_responses: int = 0
    responses: Sequence[Response] = ()
    summary: Mapping[str, int] = field(default_factory=lambda: {})
    """Votes by option, for a multiple choice."""
    cancelled: bool = False
    networks: int = 0
    """From how many networks the answers came: one program can be several participants of one network."""

    @property
    def is_final(self) -> bool:
        """True when nothing about it will change any more."""
        return self.status in ("CLOSED", "EXPIRED")


def _time(text: Any) -> Optional[datetime]:
    return datetime.fromisoformat(text.replace("Z", "+00:00")) if isinstance(text, str) else None


def question_from(body: Mapping[str, Any]) -> Question:
    """Reads a poll body, or the shorter reply to asking."""
    options = tuple(body.get("options", ()))
    expires_at = _time(body["expires_at"])
    assert expires_at is not None
    return Question(
        id=body["question_id"],
        status=body["status"],
        expires_at=expires_at,
        created_at=_time(body.get("created_at")),
        closed_at=_time(body.get("closed_at")),
        prompt=body.get("prompt", ""),
        type=body.get("type", "text"),
        options=options,
        required_responses=body.get("required_responses", 0),
        current_responses=body.get("current_responses", 0),
        responses=tuple(_response(one, options) for one in body.get("responses", ())),
        summary=dict(body.get("summary", {})),
        cancelled=body.get("cancelled", False),
        networks=body.get("integrity", {}).get("networks", 0),
    )


def _response(body: Mapping[str, Any], options: Sequence[str]) -> Response:
    chosen: Optional[int] = body.get("selected_option")
    return Response(
        answer=body.get("answer"),
        selected_option=chosen,
        option=options[chosen] if chosen is not None and chosen < len(options) else None,
        confidence=body.get("confidence"),
    )
