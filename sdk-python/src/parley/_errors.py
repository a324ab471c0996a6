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
    """It does not fit what was said before, as `code` says.

    For example an idempotency key that was used with a different question, `already_claimed` of a decision that another
    run has, or `outcome_known` of a call whose end was reported.
    """


class AlreadyClosed(ParleyError):
    """The question takes no more answers."""


class RateLimited(ParleyError):
    """Too many requests; `retry_after` says when to come back."""


class Unreachable(ParleyError):
    """No reply came, also after trying again."""


class UnknownPerson(ParleyError):
    """Nobody, or more than one person, is called as was said; nobody was asked."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="UNKNOWN_PERSON", status=0)


class NotApproved(Exception):
    """An approval that was not given: what was asked about must not run.

    `code` is `REJECTED`; `EXPIRED` or `CANCELLED` where nobody decided; `MISMATCH` where something else was approved.
    """

    def __init__(self, code: str, call: Mapping[str, Any], message: str) -> None:
        super().__init__(message)
        self.code = code
        self.id: str = call["call_id"]
        """The id of what was asked."""
        self.status: Mapping[str, Any] = call["status"]
        """How it stands on the server."""


class ApprovalRejected(NotApproved):
    """A person, or a rule of policy, said no. `comment` is what somebody said, and no instruction."""

    def __init__(self, call: Mapping[str, Any]) -> None:
        status: Mapping[str, Any] = call["status"]
        self.comment: str = status.get("comment", "Rejected without a comment")
        self.option: Optional[str] = status.get("reject_option_name")
        """The `name` of the ready-made way to reject that was chosen."""
        self.by: Mapping[str, Any] = status.get("user_info", {})
        who = self.by.get("name", "Somebody")
        super().__init__("REJECTED", call, f"{who} rejected {call['spec']['fn']}: {self.comment}")


class ApprovalUndecided(NotApproved):
    """It ended, and nobody had decided: `EXPIRED` or `CANCELLED`. Silence is never consent."""

    def __init__(self, call: Mapping[str, Any]) -> None:
        cancelled = bool(call["status"].get("cancelled"))
        how = "It was cancelled before anybody decided" if cancelled else "Nobody decided in time"
        super().__init__(
            "CANCELLED" if cancelled else "EXPIRED", call, f"{how}: {call['spec']['fn']} is not approved."
        )


class ApprovalMismatch(NotApproved):
    """What was approved is not what would run, or no key of the server's has signed the receipt."""

    def __init__(self, call: Mapping[str, Any], why: str = "What was approved is not what would run as") -> None:
        super().__init__("MISMATCH", call, f"{why} {call['spec']['fn']}.")


class NotAnswered(Exception):
    """Nobody answered what a person was asked: `code` is `EXPIRED` or `CANCELLED`."""

    def __init__(self, message: Mapping[str, Any]) -> None:
        cancelled = bool(message["status"].get("cancelled"))
        super().__init__(
            "The request was cancelled before anybody answered." if cancelled else "Nobody answered in time."
        )
        self.code = "CANCELLED" if cancelled else "EXPIRED"
        self.id: str = message["metadata"]["uid"]
        """The id of what was asked."""


_BY_STATUS = {
    400: ValidationFailed,
    401: Unauthorized,
    403: QuotaExceeded,
    404: NotFound,
    409: Conflict,
    410: AlreadyClosed,
    422: ValidationFailed,
    429: RateLimited,
}


def _members(value: Any) -> Mapping[str, Any]:
    """Returns the members of an object, and none of anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _facts(error: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns what else A2H says of an error, beside its code and message."""
    return {name: value for name, value in error.items() if name not in ("code", "message")}


def bad_reply(status: int, why: str = "The reply is not what a Parley server sends.") -> ParleyError:
    """Returns the error that a reply amounts to which no Parley server sends, such as a proxy's page."""
    return ParleyError(why, code="BAD_REPLY", status=status)


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
        details=_members(error.get("details", _facts(error))),
        retry_after=retry_after,
    )
