"""One request to the server, tried again while that is safe."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from typing import Any, Mapping, Optional

from ._errors import Unreachable, error_for

_WORTH_ANOTHER_TRY = {429, 502, 503, 504}
_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 8.0


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The server never redirects; whoever does is somebody else, and gets no key."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Connection:
    """Sends JSON and reads JSON. Everything it sends may be sent twice: reads, and writes with an idempotency key."""

    def __init__(self, url: str, headers: Mapping[str, str], *, retries: int, timeout: float) -> None:
        self._url = url.rstrip("/")
        self._headers = dict(headers)
        self._retries = retries
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def send(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        timeout: Optional[float] = None,
        until: Optional[float] = None,
    ) -> Any:
        """Returns the parsed reply. Gives up trying again at `until` (monotonic seconds). Raises ParleyError."""
        text = self._send(method, path, body, timeout=timeout, until=until)
        return json.loads(text) if text else {}

    def read_text(self, path: str) -> str:
        """Returns a reply that is no JSON, as it is. Raises ParleyError."""
        return self._send("GET", path, None, timeout=None, until=None).decode()

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
    ) -> bytes:
        for tries in range(self._retries + 1):
            last = tries == self._retries
            try:
                return self._once(method, path, body, timeout or self._timeout)
            except urllib.error.HTTPError as reply:
                error = _error_of(reply)
                pause = error.retry_after if error.retry_after is not None else _pause(tries)
                if reply.code not in _WORTH_ANOTHER_TRY or last or not _fits(pause, until):
                    raise error from None
            except (OSError, http.client.HTTPException) as broken:
                pause = _pause(tries)
                if last or not _fits(pause, until):
                    reason = getattr(broken, "reason", broken)
                    message = f"No reply from {self._url}: {reason}"
                    raise Unreachable(message, code="UNREACHABLE", status=0) from broken
            time.sleep(pause)
        raise AssertionError("the loop above returns or raises")

    def _once(self, method: str, path: str, body: Optional[Mapping[str, Any]], timeout: float) -> bytes:
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self._url + path, data=data, headers=headers, method=method)
        with self._opener.open(request, timeout=timeout) as reply:
            return reply.read()


def _error_of(reply: urllib.error.HTTPError) -> Any:
    after = reply.headers.get("Retry-After")
    try:
        body = json.loads(reply.read())
    except (OSError, ValueError):
        body = None
    return error_for(reply.code, body, float(after) if after and after.isdigit() else None)


def _pause(tries: int) -> float:
    """Full jitter: many clients that failed together do not come back together."""
    return random.uniform(0, min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**tries))


def _fits(pause: float, until: Optional[float]) -> bool:
    """A limit that ends in an hour is not worth waiting for here; its caller is told."""
    if pause > _LONGEST_PAUSE_SECONDS:
        return False
    return until is None or time.monotonic() + pause < until
