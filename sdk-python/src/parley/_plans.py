"""Asking people once about several calls that are to run in order."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Generic, Mapping, Optional, Sequence, TypedDict, TypeVar, cast
from urllib.parse import quote

from . import _asyncio, _blocking
from ._approvals import channel_of, checked_receipt
from ._consent import check_texts, consent_digest, copy_of
from ._errors import bad_reply
from ._http import Connection
from ._outcome import outcome, request
from ._receipts import Wanted
from ._reports import Reports
from ._steps import Steps


class PlannedCall(TypedDict):
    """One call of a plan: a function and exactly its arguments."""

    fn: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class _Call:
    """A call of a plan that was decided."""

    id: str
    """The id of its request."""
    fn: str
    args: Mapping[str, Any]
    """The arguments that were shown, and that are to run where `approved` says so."""
    approved: bool
    comment: Optional[str]
    digest: str
    _use: Callable[[str], Steps[Reports]] = field(repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class UsedCall:
    """A call of a plan that has started, and the reports about its end, as those of `Decision`."""

    _reports: Reports = field(repr=False)

    def done(
        self, text: Optional[str] = None, *, result: object = ..., result_digest: Optional[str] = None
    ) -> None:
        """As `Decision.done`."""
        _blocking.run(self._reports.ended("done", text, result, result_digest))

    def failed(
        self, text: Optional[str] = None, *, result: object = ..., result_digest: Optional[str] = None
    ) -> None:
        """As `Decision.failed`."""
        _blocking.run(self._reports.ended("failed", text, result, result_digest))


@dataclass(frozen=True, eq=False)
class AsyncUsedCall:
    """As `UsedCall`, for programs that run on asyncio."""

    _reports: Reports = field(repr=False)

    async def done(
        self, text: Optional[str] = None, *, result: object = ..., result_digest: Optional[str] = None
    ) -> None:
        """As `Decision.done`."""
        await _asyncio.run(self._reports.ended("done", text, result, result_digest))

    async def failed(
        self, text: Optional[str] = None, *, result: object = ..., result_digest: Optional[str] = None
    ) -> None:
        """As `Decision.failed`."""
        await _asyncio.run(self._reports.ended("failed", text, result, result_digest))


@dataclass(frozen=True)
class DecidedCall(_Call):
    """A call of a plan that was decided."""

    def use(self, *, run: Optional[str] = None) -> UsedCall:
        """Takes the call on the server, before it runs: once, and after those before it.

        The receipt of its approval has been checked then. Each `use()` is one run; with a `run` of its own, the same run
        may take it again after a crash. It returns the reports about the end of the call, which has started. Raises Conflict `not_in_plan`, with its `reason` in `details`: the call is not
        approved, not the next one, used, or too late.
        """
        return UsedCall(_blocking.run(self._use(run or str(uuid.uuid4()))))


@dataclass(frozen=True)
class AsyncDecidedCall(_Call):
    """A call of a plan that was decided, for programs that run on asyncio."""

    async def use(self, *, run: Optional[str] = None) -> AsyncUsedCall:
        """As `DecidedCall.use`."""
        return AsyncUsedCall(await _asyncio.run(self._use(run or str(uuid.uuid4()))))


Call = TypeVar("Call", bound=_Call)


@dataclass(frozen=True)
class DecidedPlan(Generic[Call]):
    """A plan that is over."""

    id: str
    """The id of the plan: its idempotency key."""
    approved: bool
    """Whether every call is approved."""
    calls: Sequence[Call]
    by: Optional[Mapping[str, Any]]
    """Who decided: `name`, `via`, and for people who are enrolled `id`; where several had to, the last of them."""
    comment: Optional[str]
    status: Mapping[str, Any]
    """How it stands on the server."""


def approve_all(
    connection: Connection, kind: Callable[..., Call], calls: Sequence[PlannedCall], more: Mapping[str, Any]
) -> Steps[DecidedPlan[Call]]:
    """Asks, waits, and returns the plan with calls of that kind; what `Parley.approve_all` promises."""
    key = more.get("idempotency_key")
    plan_id = str(key or uuid.uuid4())
    since = None if key else time.time() * 1000
    texts = {name: more.get(name) for name in ("title", "evidence", "reason")}
    check_texts({"planned": [call["fn"] for call in calls], **texts})
    planned = [(call["fn"], _copied(call["args"], f"calls[{i}].args")) for i, call in enumerate(calls)]
    body = {
        "plan_id": plan_id,
        "run_id": "sdk",
        "title": more.get("title"),
        "msg": more.get("reason"),
        "calls": [{"spec": {"fn": fn, "kwargs": args}} for fn, args in planned],
        "evidence": more.get("evidence"),
        "channel": (yield from channel_of(connection, more.get("to"), more.get("channel"))),
        "timeout_seconds": more.get("timeout_seconds"),
        "answers_inquiries": more.get("on_inquiry") and True,
    }
    asked = yield from request(connection, "/plans", body)
    on_inquiry = more.get("on_inquiry")
    plan = yield from outcome(
        connection, _path(plan_id), plan_id, asked, id_member="plan_id", on_inquiry=on_inquiry
    )
    status: Mapping[str, Any] = plan["status"]
    answers = _calls_in(plan)
    decided: list[Call] = []
    for i, (fn, args) in enumerate(planned):
        answer: Mapping[str, Any] = answers[i] if i < len(answers) else {}
        digest = consent_digest(fn, args)
        if answer.get("consent_digest") != digest:
            raise bad_reply(200, f"The server has another call {i + 1} in this plan.")
        wanted = Wanted(str(answer.get("call_id")), str(answer.get("ask_id")), digest, connection.agents, since)
        approved = status.get("approved") is True and answer.get("approved") is True
        use = _UseOf(connection, plan_id, fn, args, approved, wanted)
        decided.append(kind(wanted.call_id, fn, args, approved, answer.get("comment"), digest, use))
    return DecidedPlan(
        id=plan_id,
        approved=len(decided) == len(answers) and all(call.approved for call in decided),
        calls=decided,
        by=status.get("user_info"),
        comment=status.get("comment"),
        status=status,
    )


def withdraw_plan(connection: Connection, plan_id: str, reason: Optional[str]) -> Steps[None]:
    """Nobody can approve it any more; what `Parley.withdraw_plan` promises."""
    yield from request(connection, f"{_path(plan_id)}/cancel", {"reason": reason})


@dataclass(frozen=True)
class _UseOf:
    """The use of one call of a plan."""

    connection: Connection
    plan_id: str
    fn: str
    args: Mapping[str, Any]
    approved: bool
    wanted: Wanted

    def __call__(self, run: str) -> Steps[Reports]:
        """Raises ParleyError `BAD_REPLY` for a receipt or a reply of another call."""
        if self.approved:
            yield from checked_receipt(self.connection, self.wanted, self._mismatch)
        body = {"fn": self.fn, "kwargs": self.args, "call_id": self.wanted.call_id, "run": run}
        used = yield from request(self.connection, f"{_path(self.plan_id)}/uses", body)
        of: Mapping[str, Any] = cast("Mapping[str, Any]", used) if isinstance(used, dict) else {}
        if of.get("call_id") != self.wanted.call_id:
            raise bad_reply(200, "The server has used another call of this plan.")
        return Reports(self.connection, self.wanted.call_id)

    def _mismatch(self, why: str = "The receipt is not that of") -> Exception:
        return bad_reply(200, f"{why} {self.fn}.")


def _copied(args: Mapping[str, Any], place: str) -> dict[str, Any]:
    return cast("dict[str, Any]", copy_of(args, place))


def _calls_in(plan: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    calls: object = plan.get("calls")
    every = cast("Sequence[object]", calls) if isinstance(calls, list) else ()
    return [cast("Mapping[str, Any]", call) if isinstance(call, dict) else {} for call in every]


def _path(plan_id: str) -> str:
    return f"/plans/{quote(plan_id, safe='')}"
