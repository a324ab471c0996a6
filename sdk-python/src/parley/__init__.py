"""Ask people from Python: the client of a Parley server. Standard library only."""

from ._client import Parley
from ._errors import (
    AlreadyClosed,
    Conflict,
    NotFound,
    ParleyError,
    QuotaExceeded,
    RateLimited,
    Unauthorized,
    Unreachable,
    ValidationFailed,
)
from ._wire import Question, Response

__all__ = [
    "AlreadyClosed",
    "Conflict",
    "NotFound",
    "Parley",
    "ParleyError",
    "Question",
    "QuotaExceeded",
    "RateLimited",
    "Response",
    "Unauthorized",
    "Unreachable",
    "ValidationFailed",
]
