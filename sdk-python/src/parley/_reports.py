"""Reporting what became of an approved call."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Callable, Mapping, Optional
from urllib.parse import quote

from . import _asyncio, _blocking
from ._consent import check_texts, copy_of, digest_of
from ._errors import ParleyError
from ._http import Connection
from ._outcome import AWAY_SECONDS, request
from ._steps import Steps

NO_RESULT: object = ...
"""Stands for a result that was not given: JSON cannot carry it, so that it has no digest."""


@dataclass(frozen=True)
class Reports:
    """The reports about one call, each as the work that sends it."""

    connection: Connection
    call_id: str

    def ended(self, outcome: str, text: Optional[str], result: object, result_digest: Optional[str]) -> Steps[None]:
        """Sends how the call ended, with the digest of the result and not with the result."""
        check_texts({"text": text})
        digest = result_digest or _digest_in(result)
        return self._send({"outcome": outcome, "text": text, "result_digest": digest})

    def withdrawn(self, text: Optional[str]) -> Steps[None]:
        check_texts({"text": text})
        return self._send({"outcome": "withdrawn", "text": text})

    def done_with(self, result: object) -> Steps[None]:
        """As `ended`, of a function that returned this."""
        return self.ended("done", None, result, None)

    def failed_with(self, error: BaseException) -> Steps[None]:
        """As `ended`, of a function that raised this: the error's name alone, since its words may hold a secret."""
        return self.ended("failed", type(error).__name__[:100], NO_RESULT, None)

    def _send(self, body: Mapping[str, Optional[str]]) -> Steps[None]:
        path = f"/function_calls/{quote(self.call_id, safe='')}/outcome"
        try:
            yield from request(self.connection, path, body, AWAY_SECONDS)
        except ParleyError as error:
            if not is_unknown_route(error):
                raise


def is_unknown_route(error: ParleyError) -> bool:
    """True for the refusal of a server that does not have the route: the call itself was read there before."""
    return error.status == 404 and error.code == "not_found"


def quietly(report: Steps[None]) -> None:
    """Sends a report in a thread of its own, for up to a minute: whoever reports gets neither a wait nor an error.

    Python waits for the thread before it ends.
    """
    _in_background(lambda: _blocking.run(report))


def quietly_on_asyncio(report: Steps[None]) -> None:
    """As `quietly`, by the requests of the asynchronous client; the end of the program's loop does not end it."""
    _in_background(lambda: asyncio.run(_asyncio.run(report)))


def _in_background(work: Callable[[], None]) -> None:
    def quiet() -> None:
        try:
            work()
        except Exception:
            pass  # A refusal, or a server that stayed away: what ran has run.

    try:
        threading.Thread(target=quiet, name="parley-report").start()
    except RuntimeError:
        pass  # Python is about to end, or knows no threads.


def _digest_in(result: object) -> Optional[str]:
    try:
        return digest_of(copy_of(result, "result"))
    except (TypeError, ValueError):
        return None
