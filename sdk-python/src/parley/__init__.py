"""Ask people from Python: the client of a Parley server. Standard library only; with `cryptography` it verifies receipts."""

from ._approvals import Decision
from ._ask_person import PersonAnswer
from ._async_client import AsyncParley
from ._client import Parley
from ._errors import (
    AlreadyClosed,
    ApprovalMismatch,
    ApprovalRejected,
    ApprovalUndecided,
    Conflict,
    NotAnswered,
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
    "AsyncParley",
    "Conflict",
    "Decision",
    "NotAnswered",
    "NotApproved",
    "NotFound",
    "Parley",
    "ParleyError",
    "PersonAnswer",
    "Question",
    "QuotaExceeded",
    "RateLimited",
    "Response",
    "Unauthorized",
    "UnknownPerson",
    "Unreachable",
    "ValidationFailed",
]
