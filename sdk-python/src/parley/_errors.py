"""What a server may answer instead of doing what was asked."""

from __future__ import annotations

from typing import Any, Mapping, Optional, cast


class ParleyError(Exception):
    """A request that was not done. `code` is the server's, such as `VALIDATION_ERROR`; `status` is 0 without a reply."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int,
        details: Optional[Mapping[str, Any]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.details: Mapping[str, Any] = details or {}
        self.retry_after = retry_after
        """Seconds after which to try again, where the server said so."""


class ValidationFailed(ParleyError):
    """A field is not valid; `details["field"]` names it."""


class Unauthorized(ParleyError):
    """The key is missing, wrong or revoked."""


class QuotaExceeded(ParleyError):
    """Too many questions of this agent are open."""


class NotFound(ParleyError):
    """There is no such question, or it is somebody else's."""


class Conflict(ParleyError):
    """The idempotency key was used with a different question."""


class AlreadyClosed(ParleyError):
    """The question takes no more answers."""


class RateLimited(ParleyError):
    """Too many requests; `retry_after` says when to come back."""


class Unreachable(ParleyError):
    """No reply came, also after trying again."""


_BY_STATUS = {
    400: ValidationFailed,
    401: Unauthorized,
    403: QuotaExceeded,
    404: NotFound,
    409: Conflict,
    410: AlreadyClosed,
    429: RateLimited,
}


def _members(value: Any) -> Mapping[str, Any]:
    """Returns the members of an object, and none of anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def error_for(status: int, body: Any, retry_after: Optional[float]) -> ParleyError:
    """Returns the error that a reply amounts to."""
    error = _members(_members(body).get("error"))
    code = str(error.get("code", "SERVER_ERROR"))
    kind = _BY_STATUS.get(status, ParleyError)
    if status == 403 and code != "AGENT_QUOTA_EXCEEDED":
        kind = ParleyError
    return kind(
        str(error.get("message", f"The server answered {status}.")),
        code=code,
        status=status,
        details=_members(error.get("details")),
        retry_after=retry_after,
    )
