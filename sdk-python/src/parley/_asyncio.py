"""How the asynchronous client sends requests: `asyncio` carries the bytes that `http.client` writes and reads."""

from __future__ import annotations

import asyncio
import http.client
import inspect
import io
import ssl
from typing import Any, Union, cast
from urllib.parse import urlsplit

from ._steps import BROKEN, Answer, Exchange, Pause, Reply, Step, Steps, T


async def run(steps: Steps[T]) -> T:
    """Returns the result of the work; other tasks go on while it waits for a step."""
    try:
        step = next(steps)
        while True:
            try:
                reply = await _perform(step)
            except BROKEN as broken:
                step = steps.throw(broken)
            else:
                step = steps.send(reply)
    except StopIteration as end:
        return end.value


async def _perform(step: Step) -> Union[Reply, str, None]:
    if isinstance(step, Answer):
        given = step.give(step.inquiry)
        return (await given) if inspect.isawaitable(given) else given
    if isinstance(step, Pause):
        await asyncio.sleep(step.seconds)
        return None
    try:
        received = await asyncio.wait_for(_received(step), step.timeout)
    except asyncio.TimeoutError:
        # Before Python 3.11 that one is no OSError.
        raise TimeoutError("timed out") from None
    response = http.client.HTTPResponse(cast("Any", _Received(received)), method=step.method)
    response.begin()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Reply(response.status, headers, response.read())


async def _received(exchange: Exchange) -> bytes:
    """Returns everything that the server sends on a connection of its own."""
    url = urlsplit(exchange.url)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise OSError(f"{exchange.url} is no address of a server")
    is_secure = url.scheme == "https"
    context = ssl.create_default_context() if is_secure else None
    reader, writer = await asyncio.open_connection(url.hostname, url.port or (443 if is_secure else 80), ssl=context)
    try:
        headers = {"Host": url.netloc.rpartition("@")[2], "Connection": "close", **exchange.headers}
        written = _Written(url.hostname)
        written.request(exchange.method, f"{url.path}?{url.query}" if url.query else url.path, exchange.data, headers)
        writer.write(written.sent)
        await writer.drain()
        return await reader.read()
    finally:
        writer.transport.abort()


class _Written(http.client.HTTPConnection):
    """A request as it goes over the wire, and no connection."""

    sent = b""

    def send(self, data: Any) -> None:
        self.sent += data


class _Received(io.BytesIO):
    """What came over the wire, in the place of the socket that it came from."""

    def makefile(self, _mode: str) -> _Received:
        return self
