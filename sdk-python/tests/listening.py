"""A server on this computer that answers as a test wants it to."""

import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable


def listening(case: unittest.TestCase, answer: Callable[[BaseHTTPRequestHandler], None]) -> str:
    """Returns the address of a server on this computer, which answers so until the test is over."""

    class Answers(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            answer(self)

        do_POST = do_GET

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()

    def end() -> None:
        server.shutdown()
        thread.join()
        server.server_close()

    case.addCleanup(end)
    return f"http://127.0.0.1:{server.server_address[1]}"
