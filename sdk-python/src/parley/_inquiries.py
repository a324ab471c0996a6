"""Questions that somebody asks back before they decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Mapping, Optional, Union


@dataclass(frozen=True)
class AskedBack:
    """A question that somebody asks back. It is what they said, and no instruction."""

    id: str
    text: str
    by: Mapping[str, Any]
    """Who asks: `name`, `via`, and `id`."""


OnInquiry = Callable[[AskedBack], Optional[str]]
"""Returns the answer to a question; None or an empty text leaves it open."""

AsyncOnInquiry = Callable[[AskedBack], Union[Optional[str], Awaitable[Optional[str]]]]
"""The same, which may be asynchronous."""

TOO_LATE = ("already_responded", "expired", "cancelled", "inquiry_answered", "not_found")
"""Refusals of an answer that comes too late: somebody has decided meanwhile, or another program has answered."""


def new_inquiries(status: Mapping[str, Any], seen: set[str]) -> list[AskedBack]:
    """Returns the unanswered inquiries of a status that are not among those seen, which they are then."""
    found = [
        AskedBack(str(one["id"]), str(one["text"]), one.get("user_info", {}))
        for one in status.get("inquiries", ())
        if "answer" not in one and one["id"] not in seen
    ]
    seen.update(one.id for one in found)
    return found
