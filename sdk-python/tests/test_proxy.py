"""A proxy of the environment is for the rest of the world, and not for the server on this very computer."""

import asyncio
import contextlib
import os
import unittest
import urllib.request
from http.server import BaseHTTPRequestHandler
from typing import Callable, List
from unittest import mock

from parley import AsyncParley, Parley, ParleyError
from parley._place import is_here

from listening import listening

HERE = [
    "127.0.0.1",
    "127.0.0.1:3415",
    "127.9.8.7",
    "localhost",
    "LOCALHOST.",
    "parley.localhost",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "0.0.0.0",
    "[::]",
    "127.1",
    "2130706433",
    "0x7f000001",
    "name:word@127.0.0.1",
]
ELSEWHERE = [
    "parley.example",
    "localhost.example",
    "notlocalhost",
    "127.0.0.1.example",
    "127.0.0.1@parley.example",
    "10.0.0.1",
    "128.0.0.1",
    "[::2]",
    "[fe80::1]",
    "[::ffff:10.0.0.1]",
    "",
]


class AProxyOfTheEnvironment(unittest.TestCase):
    def test_is_for_no_address_of_this_computer(self) -> None:
        for host in HERE:
            self.assertTrue(is_here(f"http://{host}/"), host)
        for host in ELSEWHERE:
            self.assertFalse(is_here(f"http://{host}/"), host)

    def test_gets_nothing_of_what_goes_to_this_computer(self) -> None:
        through: List[str] = []
        there: List[str] = []

        def refusing(seen: List[str]) -> Callable[[BaseHTTPRequestHandler], None]:
            def answer(request: BaseHTTPRequestHandler) -> None:
                seen.append(request.path)
                request.rfile.read(int(request.headers["Content-Length"] or 0))
                request.send_response(404)
                request.end_headers()

            return answer

        proxy, url = listening(self, refusing(through)), listening(self, refusing(there))
        names = ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy")
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.dict(os.environ, {name: proxy for name in names}))
            os.environ.pop("no_proxy", None)
            os.environ.pop("NO_PROXY", None)
            # The variables are read when an opener is made.
            opener = urllib.request.build_opener()
            stack.enter_context(mock.patch("parley._blocking._opener", opener))
            with self.assertRaises(ParleyError):
                Parley("http://parley.example", retries=0).check("q_1")
            self.assertEqual(through, ["http://parley.example/agent/questions/q_1"])
            for address in (url, url.replace("127.0.0.1", "localhost"), url.replace("127.0.0.1", "127.1")):
                client, later = Parley(address, key="parley_agent_x", retries=0), AsyncParley(address, retries=0)
                tries: List[Callable[[], object]] = [
                    lambda: client.approve("refund", {"amount": 1}),
                    lambda: client.check("q_1"),
                    lambda: client.ask("Who hears this?"),
                    lambda: asyncio.run(later.check("q_1")),
                ]
                for one in tries:
                    with self.assertRaises(ParleyError) as refused:
                        one()
                    self.assertEqual(refused.exception.status, 404)
        self.assertEqual((len(through), len(there)), (1, 12))
