"""Asking named people whether exactly one call may run."""

from __future__ import annotations

import inspect
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, ClassVar, Literal, Mapping, Optional, Sequence, TypeVar, Union, cast
from urllib.parse import quote

from . import _asyncio, _blocking
from ._consent import check_texts, consent_digest, copy_of
from ._errors import ApprovalMismatch, ApprovalRejected, ApprovalUndecided
from ._http import Connection
from ._inquiries import AsyncOnInquiry
from ._outcome import AWAY_SECONDS, outcome, read, read_text, request
from ._receipts import Wanted, can_verify, is_receipt_of, is_signed, people_in, present_keys, said_in
from ._reports import Reports
from ._steps import Steps
from ._whom import channel_id


ApprovedBy = Union[Literal["enrolled"], Sequence[str]]
"""Who must have approved: one of these people, by id, or anybody who is enrolled. A rule of policy is nobody."""


@dataclass(frozen=True)
class Approved:
    """A call that was approved."""

    _reports: ClassVar[Optional[Reports]] = None
    """The reports of a decision that was read from a server. They are no field: neither compared, copied nor stored."""

    id: str
    """The id of the request: its idempotency key."""
    fn: str
    args: Mapping[str, Any]
    """The arguments that were approved, and that are to run."""
    edited: bool
    """Whether whoever approved has changed the arguments."""
    by: Mapping[str, Any]
    """Who approved: `name`, `via`, and for people who are enrolled `id`; where several had to, the last of them."""
    comment: Optional[str]
    digest: str
    """The digest of `fn` and `args` that was shown, approved, and compared with them here."""
    receipt: str
    """The signed receipt, which `parley verify` checks."""
    receipt_url: str
    """Where it stands as long as the server keeps the request."""
    verified: bool
    """Whether the receipt's signature was checked here; False where the package `cryptography` is not installed."""

    def __getstate__(self) -> Mapping[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_reports"}


@dataclass(frozen=True)
class Decision(Approved):
    """A call that was approved, and the reports about its end.

    A report is accepted once, and repeating it changes nothing. Each raises Conflict (`outcome_known`) after another
    report. A server that knows no reports (0.2) takes none, which is no error.
    """

    def done(
        self, text: Optional[str] = None, *, result: object = ..., result_digest: Optional[str] = None
    ) -> None:
        """The call ran, and did what it was approved for.

        People read `text`, at most 500 characters, without secrets. The digest of `result` is sent, and not the result;
        a value that JSON cannot carry has none. `result_digest` (`sha256:…`) is in its place.
        """
        _blocking.run(reports_of(self).ended("done", text, result, result_digest))

    def failed(
        self, text: Optional[str] = None, *, result: object = ..., result_digest: Optional[str] = None
    ) -> None:
        """The call ran, and failed; the arguments are as in `done`."""
        _blocking.run(reports_of(self).ended("failed", text, result, result_digest))

    def withdrawn(self, text: Optional[str] = None) -> None:
        """The call will not run. Raises Conflict (`outcome_started`) for one that has started."""
        _blocking.run(reports_of(self).withdrawn(text))


@dataclass(frozen=True)
class AsyncDecision(Approved):
    """As `Decision`, for programs that run on asyncio: its reports are awaited."""

    async def done(
        self, text: Optional[str] = None, *, result: object = ..., result_digest: Optional[str] = None
    ) -> None:
        """As `Decision.done`."""
        await _asyncio.run(reports_of(self).ended("done", text, result, result_digest))

    async def failed(
        self, text: Optional[str] = None, *, result: object = ..., result_digest: Optional[str] = None
    ) -> None:
        """As `Decision.failed`."""
        await _asyncio.run(reports_of(self).ended("failed", text, result, result_digest))

    async def withdrawn(self, text: Optional[str] = None) -> None:
        """As `Decision.withdrawn`."""
        await _asyncio.run(reports_of(self).withdrawn(text))


def reports_of(approved: Approved) -> Reports:
    """Returns the reports about this call. Raises RuntimeError for a decision that was copied or made by hand."""
    if approved._reports is None:  # pyright: ignore[reportPrivateUsage]
        raise RuntimeError("This decision was not read from a server: read it by `decision` of the client.")
    return approved._reports  # pyright: ignore[reportPrivateUsage]


Kind = TypeVar("Kind", bound=Approved)


def approve(
    connection: Connection, kind: Callable[..., Kind], fn: str, args: Mapping[str, Any], more: Mapping[str, Any]
) -> Steps[Kind]:
    """Asks, waits, and returns the decision as that kind; what `Parley.approve` promises."""
    copied = cast("dict[str, Any]", copy_of(args))
    check_texts({"fn": fn, "reason": more.get("reason"), "reject_options": more.get("reject_options")})
    key = more.get("idempotency_key")
    call_id = str(key or uuid.uuid4())
    since = None if key else time.time() * 1000
    spec = {
        "fn": fn,
        "kwargs": copied,
        "msg": more.get("reason"),
        "channel": (yield from channel_of(connection, more.get("to"), more.get("channel"))),
        "reject_options": more.get("reject_options"),
        "timeout_seconds": more.get("timeout_seconds"),
        "editable": more.get("editable") or None,
        "kwargs_schema": more.get("args_schema"),
        "answers_inquiries": more.get("on_inquiry") and True,
    }
    body = {
        "run_id": "sdk",
        "call_id": call_id,
        "reports": more.get("reports"),
        "spec": {k: v for k, v in spec.items() if v is not None},
    }
    asked = yield from request(connection, "/function_calls", body)
    call = yield from outcome(connection, _path(call_id), call_id, asked, on_inquiry=more.get("on_inquiry"))
    run = _Run(call_id, fn, copied, bool(more.get("editable")), more.get("by"), since)
    return (yield from _decision(connection, kind, call, run))


def read_decision(
    connection: Connection,
    kind: Callable[..., Kind],
    call_id: str,
    by: Optional[ApprovedBy],
    on_inquiry: Optional[AsyncOnInquiry],
) -> Steps[Kind]:
    """Waits for what was asked before; what `Parley.decision` promises."""
    call = yield from outcome(connection, _path(call_id), call_id, on_inquiry=on_inquiry)
    spec = call["spec"]
    run = _Run(call_id, spec["fn"], spec["kwargs"], bool(spec.get("editable")), by, None)
    return (yield from _decision(connection, kind, call, run))


def claim(connection: Connection, call_id: str, run: str) -> Steps[None]:
    yield from request(connection, f"/agent{_path(call_id)}/claim", {"run": run}, AWAY_SECONDS)


def withdraw(connection: Connection, call_id: str, reason: Optional[str]) -> Steps[None]:
    yield from request(connection, f"/agent{_path(call_id)}/cancel", {"reason": reason})


def arguments_of(function: Callable[..., Any], name: str) -> Callable[..., Mapping[str, Any]]:
    """Returns what names every argument that the function would be called with. Raises TypeError where one has no name."""
    signature = inspect.signature(function)
    rest: Optional[str] = None
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"{parameter.name} of {name} has no name that people could read: make it a keyword.")
        if parameter.kind is parameter.VAR_KEYWORD:
            rest = parameter.name

    def named(*args: Any, **kwargs: Any) -> Mapping[str, Any]:
        bound = signature.bind(*args, **kwargs)
        # What was left out runs, too.
        bound.apply_defaults()
        given = dict(bound.arguments)
        given.update(given.pop(rest) if rest is not None else {})
        return given

    return named


@dataclass(frozen=True)
class _Run:
    """What is about to run."""

    call_id: str
    fn: str
    args: Mapping[str, Any]
    editable: bool
    by: Optional[ApprovedBy]
    since: Optional[float]


def _decision(
    connection: Connection, kind: Callable[..., Kind], call: Mapping[str, Any], run: _Run
) -> Steps[Kind]:
    """Raises NotApproved unless exactly this was approved, or what a person made of it who was allowed to."""
    status: Mapping[str, Any] = call["status"]
    if status.get("expired") or status.get("cancelled"):
        raise ApprovalUndecided(call)
    if status.get("approved") is not True:
        raise ApprovalRejected(call)
    edited = run.editable and status.get("edited") is True
    args: Mapping[str, Any] = status.get("kwargs", {}) if edited else run.args
    digest = consent_digest(run.fn, args)
    if status.get("consent_digest") != digest:
        raise ApprovalMismatch(call)
    by = run.by
    if isinstance(by, str) and by != "enrolled":
        raise TypeError("by is a list of ids of people, or enrolled.")
    wanted = Wanted(run.call_id, str(status.get("ask_id", "")), digest, connection.agents, run.since)
    receipt = yield from checked_receipt(connection, wanted, lambda *why: ApprovalMismatch(call, *why))
    people = people_in(said_in(receipt.text))
    if by is not None and not (people if by == "enrolled" else any(one in by for one in people)):
        raise ApprovalMismatch(call, "Nobody of those who must has approved")
    decision = kind(
        id=run.call_id,
        fn=run.fn,
        args=args,
        edited=edited,
        by=status.get("user_info", {}),
        comment=status.get("comment"),
        digest=digest,
        receipt=receipt.text,
        receipt_url=connection.address_of(receipt.path),
        verified=receipt.verified,
    )
    object.__setattr__(decision, "_reports", Reports(connection, run.call_id))
    return decision


@dataclass(frozen=True)
class CheckedReceipt:
    """The receipt of exactly the approval that was asked for."""

    text: str
    path: str
    verified: bool


def checked_receipt(
    connection: Connection, wanted: Wanted, mismatch: Callable[..., Exception]
) -> Steps[CheckedReceipt]:
    """Returns the receipt of exactly this approval, its signature verified where that can be.

    Raises what `mismatch` returns for any other receipt; its argument says why, where that is not the digest.
    """
    path = f"/receipts/{quote(wanted.ask_id, safe='')}"
    text = yield from read_text(connection, path)
    if not is_receipt_of(said_in(text), wanted):
        raise mismatch()
    verified = can_verify()
    if verified:
        keys = connection.receipt_keys or (yield from read(connection, "/.well-known/jwks.json"))
        if not is_signed(text, present_keys(keys)):
            raise mismatch("No key of the server's has signed the receipt of")
    return CheckedReceipt(text, path, verified)


def channel_of(connection: Connection, to: Optional[str], channel: Optional[Mapping[str, Any]]) -> Steps[Any]:
    """Returns the channel that asks whom `to` or `channel` names."""
    if to is None:
        return channel
    if channel is not None:
        raise TypeError("Say whom to ask by `to` or by `channel`, and not by both.")
    return {"channel_id": (yield from channel_id(connection, to))}


def _path(call_id: str) -> str:
    return f"/function_calls/{quote(call_id, safe='')}"
