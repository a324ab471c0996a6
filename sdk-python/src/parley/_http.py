"""One request to the server, tried again while that is safe."""

from __future__ import annotations

import json
import random
import time
from typing import Any, Mapping, Optional, Sequence
from urllib.parse import urljoin, urlsplit

from ._errors import ParleyError, Unreachable, bad_reply, error_for
from ._steps import BROKEN, Exchange, Pause, Reply, Steps

_REDIRECTS = {301, 302, 303, 307, 308}
_WORTH_ANOTHER_TRY = {429, 502, 503, 504}
_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 8.0


class Connection:
    """Sends JSON and reads JSON. Everything it sends may be sent twice: reads, and writes with an idempotency key."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        retries: int,
        timeout: float,
        receipt_keys: Optional[Mapping[str, Any]] = None,
        agents: Sequence[str] = (),
    ) -> None:
        self.receipt_keys = receipt_keys
        """The keys that receipts must be signed by, kept from before; None where the server is asked for them."""
        self.agents = agents
        """Whom receipts may name as who asked."""
        self._url = url.rstrip("/")
        self._headers = dict(headers)
        self._retries = retries
        self._timeout = timeout

    def send(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        timeout: Optional[float] = None,
        until: Optional[float] = None,
    ) -> Steps[Any]:
        """Returns the parsed reply. Gives up trying again at `until` (monotonic seconds). Raises ParleyError."""
        text = yield from self._send(method, path, body, timeout=timeout, until=until)
        try:
            return json.loads(text) if text else {}
        except ValueError as broken:
            raise bad_reply(200) from broken

    def read_text(self, path: str) -> Steps[str]:
        """Returns a reply that is no JSON, as it is. Raises ParleyError."""
        text = yield from self._send("GET", path, None, timeout=None, until=None)
        return text.decode(errors="replace")

    def address_of(self, path: str) -> str:
        """Returns the address of something on the server."""
        return self._url + path

    def _send(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]],
        *,
        timeout: Optional[float],
        until: Optional[float],
    ) -> Steps[bytes]:
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        exchange = Exchange(method, self._url + path, headers, data, timeout or self._timeout)
        for tries in range(self._retries + 1):
            last = tries == self._retries
            try:
                reply: Reply = yield exchange
            except BROKEN as broken:
                pause = _pause(tries)
                if last or not _fits(pause, until):
                    reason = getattr(broken, "reason", broken)
                    message = f"No reply from {self._url}: {reason}"
                    raise Unreachable(message, code="UNREACHABLE", status=0) from broken
            else:
                if 200 <= reply.status < 300:
                    return reply.body
                if reply.status in _REDIRECTS:
                    raise _redirected(self._url, reply)
                error = _error_of(reply)
                pause = error.retry_after if error.retry_after is not None else _pause(tries)
                if reply.status not in _WORTH_ANOTHER_TRY or last or not _fits(pause, until):
                    raise error
            yield Pause(pause)
        raise AssertionError("the loop above returns or raises")


def _redirected(url: str, reply: Reply) -> ParleyError:
    to = urljoin(url, reply.headers.get("location", ""))
    message = (
        f"The server at {_origin(url)} redirects to {_origin(to)}, where nothing was sent: "
        "set PARLEY_URL (or url) to the address of the server itself."
    )
    return ParleyError(message, code="BAD_REPLY", status=reply.status)


def _origin(address: str) -> str:
    """Nothing else of an address is said: its path may hold a key."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "another address"
    if not host:
        return "another address"
    return f"{parts.scheme}://[{host}]{port}" if ":" in host else f"{parts.scheme}://{host}{port}"


def _error_of(reply: Reply) -> ParleyError:
    after = reply.headers.get("retry-after", "")
    try:
        body = json.loads(reply.body)
    except ValueError:
        body = None
    return error_for(reply.status, body, float(after) if after.isdigit() else None)


def _pause(tries: int) -> float:
    """Full jitter: many clients that failed together do not come back together."""
    return random.uniform(0, min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**tries))


def _fits(pause: float, until: Optional[float]) -> bool:
    """A limit that ends in an hour is not worth waiting for here; its caller is told."""
    if pause > _LONGEST_PAUSE_SECONDS:
        return False
    return until is None or time.monotonic() + pause < until
