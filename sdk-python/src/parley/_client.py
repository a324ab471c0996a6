"""The agent's side of a Parley server."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, TypeVar, Union, cast, overload

from . import _questions
from ._approvals import ApprovedBy, Decision, approve, arguments_of, claim, read_decision, reports_of, withdraw
from ._ask_person import PersonAnswer, ask_person, read_answer, withdraw_question
from ._blocking import run
from ._blocking import run as run_steps
from ._evidence import Evidence
from ._guard import start, starting
from ._inquiries import OnInquiry
from ._place import connect
from ._plans import DecidedCall, DecidedPlan, PlannedCall, approve_all, withdraw_plan
from ._reports import quietly
from ._wire import Question, Response

Function = TypeVar("Function", bound=Callable[..., Any])


class Parley:
    """Asks people, waits, and reads what they said.

    >>> client = Parley(agent_id="my-agent")
    >>> question = client.ask("Return None, or raise an exception, on invalid input?", min_responses=3)
    >>> for response in client.wait_for_responses(question.id, timeout=300):
    ...     print(response.answer)

    Without `url` and `key` it takes `PARLEY_URL` and `PARLEY_KEY` from the environment or, where neither says anything,
    `A2H_BASE_URL` and `A2H_API_KEY`; the server on this computer needs no key. A `url` gets the key in the environment
    only where it is the address that would be taken without it.

    Where the package `cryptography` is installed, the signatures of receipts are verified, by `receipt_keys` (a JWK set,
    kept from before), else by those that the server names. Raises RuntimeError for `receipt_keys` without that package.
    A receipt must be of `receipt_agent`, `agent:NAME` with the name that the key was made for; left out, of the holder of
    any key where this client has one, else of `open:` and the `agent_id`.
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
    def ask(
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
    def ask(
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

    def ask(
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
        """The question is stored and open to people; returns at once.

        With `options` it is a multiple choice, else a text. It carries an idempotency key, yours or a fresh one, so
        that a retry after a lost reply asks once. With `to` it goes to one person, and the answer is waited for and
        returned, as by `ask_person`. Raises ValidationFailed, Unauthorized, QuotaExceeded, RateLimited,
        Conflict, Unreachable.
        """
        if to is not None:
            if audience is not None or min_responses is not None or share_results is not None:
                raise TypeError("audience, min_responses and share_results are for the crowd, and not with to")
            return self.ask_person(
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
        return run(_questions.ask(self._connection, fields))

    def check(self, question_id: str) -> Question:
        """Returns the question as it stands now. Raises NotFound."""
        return run(_questions.check(self._connection, question_id))

    def cancel(self, question_id: str) -> Question:
        """Ends the question if it is open, and returns it; answers already given stay. Raises NotFound."""
        return run(_questions.cancel(self._connection, question_id))

    def wait(
        self, question_id: str, *, timeout: Optional[float] = None, min_count: Optional[int] = None
    ) -> Question:
        """Returns the question once it is final, has `min_count` answers, or `timeout` seconds are over.

        Without `timeout` its own deadline ends the wait. Nobody having answered is no error: look at the result.
        """
        return run(_questions.wait(self._connection, question_id, timeout, min_count))

    def wait_for_responses(
        self, question_id: str, *, timeout: Optional[float] = None, min_count: Optional[int] = None
    ) -> Sequence[Response]:
        """Returns what people have said once `wait` is over: all wanted answers, or what there is by then."""
        return self.wait(question_id, timeout=timeout, min_count=min_count).responses

    def responses(self, question_id: str, *, timeout: Optional[float] = None) -> Iterator[Response]:
        """Yields each answer as it arrives, until the question is final or `timeout` seconds are over."""
        until = _questions.end_of(timeout)
        question: Optional[Question] = self.check(question_id)
        told = 0
        while question is not None:
            yield from question.responses[told:]
            told = len(question.responses)
            question = run(_questions.after(self._connection, question, until))

    def ask_person(
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
        """Waits until a person has answered, and returns the answer.

        With `options` it is one of them, with `schema`, a JSON Schema, a value that fits, else words. `to` is a person's
        exact name or id, a group, a conversation, or a channel that the operator has named. Without `timeout_seconds`
        there is no deadline. The same under the same `idempotency_key` joins what was asked before.

        Raises NotAnswered when nobody answered in time or it was cancelled, UnknownPerson, and what `ask` does.
        """
        return run(
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

    def answer(self, request_id: str, *, on_inquiry: Optional[OnInquiry] = None) -> PersonAnswer:
        """Takes up the wait for what a person was asked before; the id is its idempotency key.

        Raises what `ask_person` does, and NotFound.
        """
        return run(read_answer(self._connection, request_id, on_inquiry))

    def withdraw_question(self, request_id: str, *, reason: Optional[str] = None) -> None:
        """Takes back what a person was asked: nobody can answer it any more, and whoever waits for it gets NotAnswered.

        The id is its idempotency key; taking it back again changes nothing. Raises NotFound, and Conflict when it is over.
        """
        run(withdraw_question(self._connection, request_id, reason))

    def approve(
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
    ) -> Decision:
        """Waits until a person, or a rule of policy, has approved this call, and returns the decision.

        Its `args` are to run: those that were asked about or, where `editable` allows it, what the person made of them.
        Their digest has been compared with what was shown and approved. `to` is a person's exact name or id, a group, or
        a channel that the operator has named; `channel` says it in the words of A2H. One of the people of `by` (ids, or
        "enrolled") must have approved, else it is ApprovalMismatch. The same under the same
        `idempotency_key` joins what was asked before. A server that goes away meanwhile is asked again under the same id.
        `on_inquiry` answers what people ask back before they decide; without it they are told that nobody answers. The
        wait goes on once it has returned, and ends with what it raises. `done`, `failed` and `withdrawn` of the decision
        tell people what became of the call; `reports` promises one of them, without which the call is shown as unknown
        after an hour.

        Raises ApprovalRejected with the comment, ApprovalUndecided when nobody decided in time or it was cancelled,
        ApprovalMismatch, UnknownPerson, TypeError for arguments that JSON cannot carry, and what `ask` does.
        """
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
        return run(approve(self._connection, Decision, fn, args, more))

    def approve_all(
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
    ) -> DecidedPlan[DecidedCall]:
        """Asks people once about several calls that are to run in this order, and returns the plan once it is decided.

        They may approve all calls or the first ones alone; nothing is raised for a rejection. Before a call runs, its
        `use()` takes it on the server, once and in order. Arguments are copied before anybody is asked, and the digest of
        each call has been compared with what was shown. `to`, `channel`, `reason` and `idempotency_key` are as in
        `approve`; `title` and `evidence` are part of what is approved.

        Raises UnknownPerson, TypeError for arguments that JSON cannot carry, ParleyError `BAD_REPLY` for a reply about
        other calls, and what `ask` does.
        """
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
        return run(approve_all(self._connection, DecidedCall, calls, more))

    def withdraw_plan(self, plan_id: str, *, reason: Optional[str] = None) -> None:
        """Nobody can approve the plan any more. Raises NotFound, and Conflict when it is over."""
        run(withdraw_plan(self._connection, plan_id, reason))

    def decision(
        self, approval_id: str, *, by: Optional[ApprovedBy] = None, on_inquiry: Optional[OnInquiry] = None
    ) -> Decision:
        """Takes up the wait for an approval that was asked for before; its id is its idempotency key.

        Raises what `approve` does, and NotFound.
        """
        return run(read_decision(self._connection, Decision, approval_id, by, on_inquiry))

    def claim(self, approval_id: str, *, run: str) -> None:
        """Takes the decision for this run, which then goes on with it: of any number of processes one gets it.

        The same `run` gets it again, so that a lost reply loses nothing. It is never given back: after a crash nobody
        knows whether the run has acted.

        Raises NotFound, and Conflict for a decision that another run has (`already_claimed`) or that is not there yet
        (`not_decided`).
        """
        run_steps(claim(self._connection, approval_id, run))

    def withdraw(self, approval_id: str, *, reason: Optional[str] = None) -> None:
        """Nobody can approve it any more. Raises NotFound, and Conflict when it is over."""
        run(withdraw(self._connection, approval_id, reason))

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
        """Puts a function behind an approval: each call asks with all its arguments, by name, waits, and runs it once.

        The arguments are of what JSON can carry, defaults among them, and are copied before anybody is asked; what was
        approved is what runs. People read the function as `name`, else as its own.

        The function runs at most once for an approval: it is claimed on the server right before. The end is reported, done
        with the digest of the result, or failed with the name of the error; a report that does not arrive is tried for up
        to a minute beside the program.

        Raises what `approve` does, and Conflict (`already_claimed`, `outcome_known`); the function has not run then. A
        function that is asynchronous is for `AsyncParley`, and a TypeError here.
        """

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
            if inspect.iscoroutinefunction(function):
                raise TypeError(f"{function.__name__} is asynchronous: put it behind an approval of AsyncParley.")
            fn = name or function.__name__
            named = arguments_of(function, fn)

            @functools.wraps(function)
            def behind(*args: Any, **kwargs: Any) -> Any:
                approved = run(approve(self._connection, Decision, fn, named(*args, **kwargs), more))
                with starting(approved, quietly):
                    run(start(self._connection, approved))
                try:
                    result = function(**approved.args)
                except BaseException as error:
                    quietly(reports_of(approved).failed_with(error))
                    raise
                quietly(reports_of(approved).done_with(result))
                return result

            return cast("Function", behind)

        return behind_approval
