"""The start of a function that was approved, which one run gets."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from typing import Callable, Generator

from ._approvals import Approved, claim, reports_of
from ._errors import Conflict, ParleyError
from ._http import Connection
from ._reports import is_unknown_route
from ._steps import Steps


def start(connection: Connection, approved: Approved) -> Steps[None]:
    """Takes the approved call for this run alone. A server without claims (0.2) lets every run start.

    Raises Conflict (`already_claimed`, `outcome_known`) where another run has started it or its approval has ended.
    """
    try:
        yield from claim(connection, approved.id, str(uuid.uuid4()))
    except ParleyError as error:
        if not is_unknown_route(error):
            raise _refusal(approved.fn, error) from error


@contextmanager
def starting(approved: Approved, quietly: Callable[[Steps[None]], None]) -> Generator[None, None, None]:
    """Gives the approval back where the start ends by something else than a refusal, such as a cancelled task."""
    try:
        yield
    except ParleyError:
        raise
    except BaseException:
        # A start that arrived all the same keeps the call: the server refuses to have it withdrawn then.
        quietly(reports_of(approved).withdrawn(None))
        raise


def _refusal(fn: str, error: ParleyError) -> ParleyError:
    """Returns the refusal of a start in words about the function; any other error as it is."""
    if not isinstance(error, Conflict):
        return error
    if error.code == "outcome_known":
        why = f"its approval has ended ({error.details.get('state')})"
    else:
        why = "another run has started it under this approval, and may have acted"
    return Conflict(f"{fn} did not run: {why}.", code=error.code, status=error.status, details=error.details)
