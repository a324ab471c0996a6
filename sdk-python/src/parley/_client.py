"""The agent's side of a Parley server."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence
from urllib.parse import quote

from ._approvals import Decision, Function, ask_approval, guarded, read_decision, withdraw
from ._http import Connection
from ._wire import Question, Response, question_from

_HOLD_SECONDS = 25
"""How long the server is asked to hold one long-poll: its own default limit."""


_A2H_PATHS = ("/a2h/v1alpha1", "/humanlayer/v1")
"""Where those addresses of A2H begin that stand below a server's own."""


def _place(url: Optional[str]) -> tuple[Optional[str], Optional[str]]:
    """Returns the server's address, with the one given before all others, and the key that the environment has for it.

    Parley's variables and A2H's are never mixed, so that no key goes to a server that it is not for.
    """
    ours, key = url or os.environ.get("PARLEY_URL"), os.environ.get("PARLEY_KEY")
    if ours or key:
        return ours, key
    theirs = os.environ.get("A2H_BASE_URL", "").rstrip("/")
    for path in _A2H_PATHS:
        if theirs.endswith(path):
            theirs = theirs[: -len(path)]
    return theirs, os.environ.get("A2H_API_KEY")


class Parley:
    """Asks people, waits, and reads what they said.

    >>> client = Parley(agent_id="my-agent")
    >>> question = client.ask("Return None, or raise an exception, on invalid input?", min_responses=3)
    >>> for response in client.wait_for_responses(question.id, timeout=300):
    ...     print(response.answer)

    Without `url` and `key` it takes `PARLEY_URL` and `PARLEY_KEY` from the environment or, where neither says anything,
    `A2H_BASE_URL` and `A2H_API_KEY`; the server on this computer needs no key.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        key: Optional[str] = None,
        agent_id: Optional[str] = None,
        retries: int = 4,
        timeout: float = 30.0,
    ) -> None:
        address, known_key = _place(url)
        key = key if key is not None else known_key
        headers: dict[str, str] = {}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        if agent_id:
            headers["X-Agent-Id"] = agent_id
        self._connection = Connection(address or "http://127.0.0.1:3415", headers, retries=retries, timeout=timeout)

    def ask(
        self,
        prompt: str,
        *,
        options: Optional[Sequence[str]] = None,
        audience: Optional[Sequence[str]] = None,
        min_responses: Optional[int] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        share_results: Optional[bool] = None,
    ) -> Question:
        """The question is stored and open to people; returns at once.

        With `options` it is a multiple choice, else a text. It carries an idempotency key, yours or a fresh one, so
        that a retry after a lost reply asks once. Raises ValidationFailed, Unauthorized, QuotaExceeded, RateLimited,
        Conflict, Unreachable.
        """
        body: dict[str, Any] = {
            "prompt": prompt,
            "type": "text" if options is None else "multiple_choice",
            "options": None if options is None else list(options),
            "audience": None if audience is None else list(audience),
            "min_responses": min_responses,
            "timeout_seconds": timeout_seconds,
            "idempotency_key": idempotency_key or str(uuid.uuid4()),
            "share_results": share_results,
        }
        given = {name: value for name, value in body.items() if value is not None}
        return question_from(self._connection.send("POST", "/agent/questions", given))

    def check(self, question_id: str) -> Question:
        """Returns the question as it stands now. Raises NotFound."""
        return question_from(self._connection.send("GET", _path(question_id)))

    def cancel(self, question_id: str) -> Question:
        """Ends the question if it is open, and returns it; answers already given stay. Raises NotFound."""
        return question_from(self._connection.send("DELETE", _path(question_id)))

    def wait(
        self, question_id: str, *, timeout: Optional[float] = None, min_count: Optional[int] = None
    ) -> Question:
        """Returns the question once it is final, has `min_count` answers, or `timeout` seconds are over.

        Without `timeout` its own deadline ends the wait. Nobody having answered is no error: look at the result.
        """
        until = None if timeout is None else time.monotonic() + timeout
        question = self.check(question_id)
        while not question.is_final and not _enough(question, min_count):
            left = _HOLD_SECONDS if until is None else until - time.monotonic()
            if left <= 0:
                break
            question = self._hold(question, left, until)
        return question

    def wait_for_responses(
        self, question_id: str, *, timeout: Optional[float] = None, min_count: Optional[int] = None
    ) -> Sequence[Response]:
        """Returns what people have said once `wait` is over: all wanted answers, or what there is by then."""
        return self.wait(question_id, timeout=timeout, min_count=min_count).responses

    def responses(self, question_id: str, *, timeout: Optional[float] = None) -> Iterator[Response]:
        """Yields each answer as it arrives, until the question is final or `timeout` seconds are over."""
        until = None if timeout is None else time.monotonic() + timeout
        told = 0
        question = self.check(question_id)
        while True:
            yield from question.responses[told:]
            told = len(question.responses)
            left = _HOLD_SECONDS if until is None else until - time.monotonic()
            if question.is_final or left <= 0:
                return
            question = self._hold(question, left, until)

    def approve(
        self,
        fn: str,
        args: Mapping[str, Any],
        *,
        to: Optional[str] = None,
        channel: Optional[Mapping[str, Any]] = None,
        reason: Optional[str] = None,
        reject_options: Optional[Sequence[Mapping[str, Any]]] = None,
        editable: bool = False,
        args_schema: Optional[Mapping[str, Any]] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Decision:
        """Waits until a person, or a rule of policy, has approved this call, and returns the decision.

        Its `args` are to run: those that were asked about or, where `editable` allows it, what the person made of them.
        Their digest has been compared with what was shown and approved. `to` is a person's exact name or id, a group, or
        a channel that the operator has named; `channel` says it in the words of A2H. The same under the same
        `idempotency_key` joins what was asked before. A server that goes away meanwhile is asked again under the same id.

        Raises ApprovalRejected with the comment, ApprovalUndecided when nobody decided in time or it was cancelled,
        ApprovalMismatch, UnknownPerson, TypeError for arguments that JSON cannot carry, and what `ask` does.
        """
        more = {
            "to": to,
            "channel": channel,
            "reason": reason,
            "reject_options": None if reject_options is None else list(reject_options),
            "editable": editable,
            "args_schema": args_schema,
            "timeout_seconds": timeout_seconds,
            "idempotency_key": idempotency_key,
        }
        return ask_approval(self._connection, fn, args, more)

    def decision(self, approval_id: str) -> Decision:
        """Takes up the wait for an approval that was asked for before; its id is its idempotency key.

        Raises what `approve` does, and NotFound.
        """
        return read_decision(self._connection, approval_id)

    def withdraw(self, approval_id: str, *, reason: Optional[str] = None) -> None:
        """Nobody can approve it any more. Raises NotFound, and Conflict when it is over."""
        withdraw(self._connection, approval_id, reason)

    def require_approval(
        self,
        *,
        to: Optional[str] = None,
        channel: Optional[Mapping[str, Any]] = None,
        name: Optional[str] = None,
        reason: Optional[str] = None,
        reject_options: Optional[Sequence[Mapping[str, Any]]] = None,
        editable: bool = False,
        args_schema: Optional[Mapping[str, Any]] = None,
        timeout_seconds: Optional[int] = None,
    ) -> Callable[[Function], Function]:
        """Puts a function behind an approval: each call asks with all its arguments, by name, waits, and runs it once.

        The arguments are of what JSON can carry, defaults among them, and are copied before anybody is asked; what was
        approved is what runs. People read the function as `name`, else as its own. Raises what `approve` does; the
        function has not run then.
        """

        def ask(fn: str, args: Mapping[str, Any]) -> Decision:
            return self.approve(
                fn,
                args,
                to=to,
                channel=channel,
                reason=reason,
                reject_options=reject_options,
                editable=editable,
                args_schema=args_schema,
                timeout_seconds=timeout_seconds,
            )

        return lambda function: guarded(function, name or function.__name__, ask)

    def _hold(self, question: Question, left: float, until: Optional[float]) -> Question:
        """One long-poll: returns with the next answer, the end, or when the hold is over."""
        hold = max(0.05, min(left, _HOLD_SECONDS))
        query = f"?wait={round(hold * 1000)}ms&after={question.current_responses}"
        reply = self._connection.send("GET", _path(question.id) + query, timeout=hold + 10, until=until)
        return question_from(reply)


def _path(question_id: str) -> str:
    return f"/agent/questions/{quote(question_id, safe='')}"


def _enough(question: Question, min_count: Optional[int]) -> bool:
    return min_count is not None and question.current_responses >= min_count
