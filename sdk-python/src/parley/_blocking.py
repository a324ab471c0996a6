"""How the client that blocks sends requests: `urllib`, with the certificates that it knows, and the proxies elsewhere."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from email.message import Message
from typing import Any, Mapping, Optional, Union, cast

from ._place import is_here
from ._steps import BROKEN, Answer, Pause, Reply, Step, Steps, T


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The server never redirects; whoever does is somebody else, and gets no key."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)
_direct = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))


def run(steps: Steps[T]) -> T:
    """Returns the result of the work, with this thread waiting for each step."""
    try:
        step = next(steps)
        while True:
            try:
                reply = _perform(step)
            except BROKEN as broken:
                step = steps.throw(broken)
            else:
                step = steps.send(reply)
    except StopIteration as end:
        return end.value


def _perform(step: Step) -> Union[Reply, str, None]:
    if isinstance(step, Answer):
        return cast("Optional[str]", step.give(step.inquiry))
    if isinstance(step, Pause):
        time.sleep(step.seconds)
        return None
    request = urllib.request.Request(step.url, data=step.data, headers=dict(step.headers), method=step.method)
    # A proxy of the environment is for the rest of the world, and would be given the key.
    opener = _direct if is_here(step.url) else _opener
    try:
        with opener.open(request, timeout=step.timeout) as reply:
            return Reply(reply.status, _named(reply.headers), reply.read())
    except urllib.error.HTTPError as refused:
        with refused:
            return Reply(refused.code, _named(refused.headers), refused.read())


def _named(headers: Message) -> Mapping[str, str]:
    return {name.lower(): value for name, value in headers.items()}
