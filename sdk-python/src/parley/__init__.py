"""Ask people from Python: the client of a Parley server. Standard library only; with `cryptography` it verifies receipts."""

from ._approvals import AsyncDecision, Decision
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
from ._evidence import DiffEvidence, Evidence, ImageEvidence, LinkEvidence, MarkdownEvidence, TableEvidence
from ._inquiries import AskedBack
from ._plans import AsyncDecidedCall, AsyncUsedCall, DecidedCall, DecidedPlan, PlannedCall, UsedCall
from ._wire import Question, Response

__all__ = [
    "AlreadyClosed",
    "ApprovalMismatch",
    "ApprovalRejected",
    "ApprovalUndecided",
    "AskedBack",
    "AsyncDecidedCall",
    "AsyncDecision",
    "AsyncParley",
    "AsyncUsedCall",
    "Conflict",
    "DecidedCall",
    "DecidedPlan",
    "Decision",
    "DiffEvidence",
    "Evidence",
    "ImageEvidence",
    "LinkEvidence",
    "MarkdownEvidence",
    "NotAnswered",
    "NotApproved",
    "NotFound",
    "Parley",
    "ParleyError",
    "PersonAnswer",
    "PlannedCall",
    "Question",
    "QuotaExceeded",
    "RateLimited",
    "Response",
    "TableEvidence",
    "Unauthorized",
    "UnknownPerson",
    "Unreachable",
    "UsedCall",
    "ValidationFailed",
]
