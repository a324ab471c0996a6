"""What the two clients share: work that says what it needs, and leaves to each how it waits for that."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from typing import Any, Generator, Mapping, Optional, TypeVar, Union

from ._inquiries import AskedBack, AsyncOnInquiry

T = TypeVar("T")


@dataclass(frozen=True)
class Exchange:
    """One request, whose reply is wanted."""

    method: str
    url: str
    headers: Mapping[str, str]
    data: Optional[bytes]
    timeout: float
    """How many seconds there are from its beginning to the end of its reply."""


@dataclass(frozen=True)
class Pause:
    """Some time that is to pass."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    """An answer that the program itself is to give."""

    give: AsyncOnInquiry
    inquiry: AskedBack


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    """By names in small letters."""
    body: bytes


Step = Union[Exchange, Pause, Answer]
Steps = Generator[Step, Any, T]
"""Work that yields its steps, is sent each reply, and returns its result. What breaks a connection is thrown into it."""

BROKEN = (OSError, http.client.HTTPException)
"""What is raised where no reply came."""
