"""Whoever sends a client on is somebody else, and whoever it leads to hears nothing."""

import asyncio
import unittest
from http.server import BaseHTTPRequestHandler
from typing import Callable, List, Optional

from parley import AsyncParley, Parley, ParleyError

from listening import listening


class ARedirect(unittest.TestCase):
    def test_is_not_followed_with_key_or_body(self) -> None:
        heard: List[str] = []
        keys: List[Optional[str]] = []

        def other(request: BaseHTTPRequestHandler) -> None:
            heard.append(request.path)
            request.send_response(200)
            request.end_headers()

        elsewhere = listening(self, other)
        for status in (301, 302, 303, 307, 308):

            def first(request: BaseHTTPRequestHandler, status: int = status) -> None:
                keys.append(request.headers["Authorization"])
                request.rfile.read(int(request.headers["Content-Length"] or 0))
                request.send_response(status)
                request.send_header("Location", elsewhere + request.path)
                request.end_headers()

            url = listening(self, first)
            client = Parley(url, key="parley_agent_x")
            later = AsyncParley(url, key="parley_agent_x")
            tries: List[Callable[[], object]] = [
                lambda: client.check("q_1"),
                lambda: client.ask("Who hears this?"),
                lambda: client.approve("refund", {"amount": 1}),
                lambda: asyncio.run(later.check("q_1")),
                lambda: asyncio.run(later.ask("Who hears this?")),
                lambda: asyncio.run(later.approve("refund", {"amount": 1})),
            ]
            for one in tries:
                keys.clear()
                with self.assertRaises(ParleyError) as refused:
                    one()
                self.assertEqual(refused.exception.status, status)
                self.assertEqual(keys, ["Bearer parley_agent_x"])
        self.assertEqual(heard, [])
