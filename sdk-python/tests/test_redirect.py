"""Whoever sends a client on is somebody else, and whoever it leads to hears nothing."""

import asyncio
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, List, Optional

from parley import AsyncParley, Parley, ParleyError


def listening(case: unittest.TestCase, answer: Callable[[BaseHTTPRequestHandler], None]) -> str:
    """Returns the address of a server on this computer, which answers so until the test is over."""

    class Answers(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            answer(self)

        do_POST = do_GET

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def end() -> None:
        server.shutdown()
        thread.join()
        server.server_close()

    case.addCleanup(end)
    return f"http://127.0.0.1:{server.server_address[1]}"


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
