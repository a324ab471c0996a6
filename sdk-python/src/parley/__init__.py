"""Ask people from Python: the client of a Parley server. Standard library only."""

from ._approvals import Decision
from ._client import Parley
from ._errors import (
    AlreadyClosed,
    ApprovalMismatch,
    ApprovalRejected,
    ApprovalUndecided,
    Conflict,
    NotApproved,
    NotFound,
    ParleyError,
    QuotaExceeded,
    RateLimited,
    Unauthorized,
    UnknownPerson,
    Unreachable,
    ValidationFailed,
)
from ._wire import Question, Response

__all__ = [
    "AlreadyClosed",
    "ApprovalMismatch",
    "ApprovalRejected",
    "ApprovalUndecided",
    "Conflict",
    "Decision",
    "NotApproved",
    "NotFound",
    "Parley",
    "ParleyError",
    "Question",
    "QuotaExceeded",
    "RateLimited",
    "Response",
    "Unauthorized",
    "UnknownPerson",
    "Unreachable",
    "ValidationFailed",
]
