"""The agent's side of a Parley server, for programs that run on asyncio."""

from __future__ import annotations

import functools
import inspect
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Optional, Sequence, TypeVar, Union, cast, overload

from . import _questions
from ._approvals import ApprovedBy, AsyncDecision, approve, arguments_of, claim, read_decision, reports_of, withdraw
from ._ask_person import PersonAnswer, ask_person, read_answer, withdraw_question
from ._asyncio import run
from ._asyncio import run as run_steps
from ._evidence import Evidence
from ._guard import start, starting
from ._inquiries import AsyncOnInquiry as OnInquiry
from ._place import connect
from ._plans import AsyncDecidedCall, DecidedPlan, PlannedCall, approve_all, withdraw_plan
from ._reports import quietly_on_asyncio as quietly
from ._wire import Question, Response

Function = TypeVar("Function", bound=Callable[..., Awaitable[Any]])


class AsyncParley:
    """As `Parley`, and other tasks go on meanwhile: what that one returns is awaited here.

    >>> client = AsyncParley(agent_id="my-agent")
    >>> question = await client.ask("Return None, or raise an exception, on invalid input?", min_responses=3)
    >>> async for response in client.responses(question.id, timeout=300):
    ...     print(response.answer)

    Cancelling a task ends its wait, never what was asked. It goes straight to the server, past the proxies that the
    environment names.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        key: Optional[str] = None,
        agent_id: Optional[str] = None,
        retries: int = 4,
        timeout: float = 30.0,
        receipt_keys: Optional[Mapping[str, Any]] = None,
        receipt_agent: Optional[str] = None,
    ) -> None:
        self._connection = connect(
            url,
            key=key,
            agent_id=agent_id,
            retries=retries,
            timeout=timeout,
            receipt_keys=receipt_keys,
            receipt_agent=receipt_agent,
        )

    @overload
    async def ask(
        self,
        prompt: str,
        *,
        to: str,
        options: Optional[Sequence[str]] = None,
        schema: Optional[Mapping[str, Any]] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> PersonAnswer: ...

    @overload
    async def ask(
        self,
        prompt: str,
        *,
        to: None = None,
        options: Optional[Sequence[str]] = None,
        audience: Optional[Sequence[str]] = None,
        min_responses: Optional[int] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        share_results: Optional[bool] = None,
    ) -> Question: ...

    async def ask(
        self,
        prompt: str,
        *,
        to: Optional[str] = None,
        options: Optional[Sequence[str]] = None,
        schema: Optional[Mapping[str, Any]] = None,
        audience: Optional[Sequence[str]] = None,
        min_responses: Optional[int] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        share_results: Optional[bool] = None,
    ) -> Union[Question, PersonAnswer]:
        """As `Parley.ask`."""
        if to is not None:
            if audience is not None or min_responses is not None or share_results is not None:
                raise TypeError("audience, min_responses and share_results are for the crowd, and not with to")
            return await self.ask_person(
                to,
                prompt,
                options=options,
                schema=schema,
                timeout_seconds=timeout_seconds,
                idempotency_key=idempotency_key,
            )
        if schema is not None:
            raise TypeError("schema is for one person: say whom to ask, by to")
        fields = {
            "prompt": prompt,
            "options": None if options is None else list(options),
            "audience": None if audience is None else list(audience),
            "min_responses": min_responses,
            "timeout_seconds": timeout_seconds,
            "idempotency_key": idempotency_key,
            "share_results": share_results,
        }
        return await run(_questions.ask(self._connection, fields))

    async def check(self, question_id: str) -> Question:
        """As `Parley.check`."""
        return await run(_questions.check(self._connection, question_id))

    async def cancel(self, question_id: str) -> Question:
        """As `Parley.cancel`."""
        return await run(_questions.cancel(self._connection, question_id))

    async def wait(
        self, question_id: str, *, timeout: Optional[float] = None, min_count: Optional[int] = None
    ) -> Question:
        """As `Parley.wait`."""
        return await run(_questions.wait(self._connection, question_id, timeout, min_count))

    async def wait_for_responses(
        self, question_id: str, *, timeout: Optional[float] = None, min_count: Optional[int] = None
    ) -> Sequence[Response]:
        """As `Parley.wait_for_responses`."""
        return (await self.wait(question_id, timeout=timeout, min_count=min_count)).responses

    async def responses(self, question_id: str, *, timeout: Optional[float] = None) -> AsyncIterator[Response]:
        """As `Parley.responses`."""
        until = _questions.end_of(timeout)
        question: Optional[Question] = await self.check(question_id)
        told = 0
        while question is not None:
            for response in question.responses[told:]:
                yield response
            told = len(question.responses)
            question = await run(_questions.after(self._connection, question, until))

    async def ask_person(
        self,
        to: str,
        message: str,
        *,
        options: Optional[Sequence[str]] = None,
        schema: Optional[Mapping[str, Any]] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        on_inquiry: Optional[OnInquiry] = None,
    ) -> PersonAnswer:
        """As `Parley.ask_person`."""
        return await run(
            ask_person(
                self._connection,
                to,
                message,
                options=options,
                schema=schema,
                timeout_seconds=timeout_seconds,
                idempotency_key=idempotency_key,
                on_inquiry=on_inquiry,
            )
        )

    async def answer(self, request_id: str, *, on_inquiry: Optional[OnInquiry] = None) -> PersonAnswer:
        """As `Parley.answer`."""
        return await run(read_answer(self._connection, request_id, on_inquiry))

    async def withdraw_question(self, request_id: str, *, reason: Optional[str] = None) -> None:
        """As `Parley.withdraw_question`."""
        await run(withdraw_question(self._connection, request_id, reason))

    async def approve(
        self,
        fn: str,
        args: Mapping[str, Any],
        *,
        to: Optional[str] = None,
        channel: Optional[Mapping[str, Any]] = None,
        by: Optional[ApprovedBy] = None,
        reason: Optional[str] = None,
        reject_options: Optional[Sequence[Mapping[str, Any]]] = None,
        editable: bool = False,
        args_schema: Optional[Mapping[str, Any]] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        on_inquiry: Optional[OnInquiry] = None,
        reports: bool = False,
    ) -> AsyncDecision:
        """As `Parley.approve`."""
        more = {
            "to": to,
            "channel": channel,
            "by": by,
            "reason": reason,
            "reject_options": None if reject_options is None else list(reject_options),
            "editable": editable,
            "args_schema": args_schema,
            "timeout_seconds": timeout_seconds,
            "idempotency_key": idempotency_key,
            "on_inquiry": on_inquiry,
            "reports": "end" if reports else None,
        }
        return await run(approve(self._connection, AsyncDecision, fn, args, more))

    async def approve_all(
        self,
        calls: Sequence[PlannedCall],
        *,
        to: Optional[str] = None,
        channel: Optional[Mapping[str, Any]] = None,
        title: Optional[str] = None,
        reason: Optional[str] = None,
        evidence: Optional[Sequence[Evidence]] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        on_inquiry: Optional[OnInquiry] = None,
    ) -> DecidedPlan[AsyncDecidedCall]:
        """As `Parley.approve_all`."""
        more = {
            "to": to,
            "channel": channel,
            "title": title,
            "reason": reason,
            "evidence": None if evidence is None else list(evidence),
            "timeout_seconds": timeout_seconds,
            "idempotency_key": idempotency_key,
            "on_inquiry": on_inquiry,
        }
        return await run(approve_all(self._connection, AsyncDecidedCall, calls, more))

    async def withdraw_plan(self, plan_id: str, *, reason: Optional[str] = None) -> None:
        """As `Parley.withdraw_plan`."""
        await run(withdraw_plan(self._connection, plan_id, reason))

    async def decision(
        self, approval_id: str, *, by: Optional[ApprovedBy] = None, on_inquiry: Optional[OnInquiry] = None
    ) -> AsyncDecision:
        """As `Parley.decision`."""
        return await run(read_decision(self._connection, AsyncDecision, approval_id, by, on_inquiry))

    async def claim(self, approval_id: str, *, run: str) -> None:
        """As `Parley.claim`."""
        await run_steps(claim(self._connection, approval_id, run))

    async def withdraw(self, approval_id: str, *, reason: Optional[str] = None) -> None:
        """As `Parley.withdraw`."""
        await run(withdraw(self._connection, approval_id, reason))

    def require_approval(
        self,
        *,
        to: Optional[str] = None,
        channel: Optional[Mapping[str, Any]] = None,
        by: Optional[ApprovedBy] = None,
        name: Optional[str] = None,
        reason: Optional[str] = None,
        reject_options: Optional[Sequence[Mapping[str, Any]]] = None,
        editable: bool = False,
        args_schema: Optional[Mapping[str, Any]] = None,
        timeout_seconds: Optional[int] = None,
        on_inquiry: Optional[OnInquiry] = None,
    ) -> Callable[[Function], Function]:
        """As `Parley.require_approval`, for functions that are asynchronous; others are a TypeError."""

        more: Mapping[str, Any] = {
            "to": to,
            "channel": channel,
            "by": by,
            "reason": reason,
            "reject_options": None if reject_options is None else list(reject_options),
            "editable": editable,
            "args_schema": args_schema,
            "timeout_seconds": timeout_seconds,
            "on_inquiry": on_inquiry,
            "reports": "start",
        }

        def behind_approval(function: Function) -> Function:
            if not inspect.iscoroutinefunction(function):
                raise TypeError(f"{function.__name__} is not asynchronous: put it behind an approval of Parley.")
            fn = name or function.__name__
            named = arguments_of(function, fn)

            @functools.wraps(function)
            async def behind(*args: Any, **kwargs: Any) -> Any:
                approved = await run(approve(self._connection, AsyncDecision, fn, named(*args, **kwargs), more))
                with starting(approved, quietly):
                    await run(start(self._connection, approved))
                try:
                    result = await function(**approved.args)
                except BaseException as error:
                    quietly(reports_of(approved).failed_with(error))
                    raise
                quietly(reports_of(approved).done_with(result))
                return result

            return cast("Function", behind)

        return behind_approval
