"""Whoever set the server up, as the tests have it decide and answer; its key is in PARLEY_TEST_DECIDER."""

import json
import os
import threading
import time
import unittest
import urllib.request
import uuid
from typing import Any, Callable, Optional

URL = os.environ["PARLEY_URL"]
CALLS = URL + "/a2h/v1alpha1/agent/function_calls"
INBOX = URL + "/people/me/asks"
DECIDER = {"Authorization": f"Bearer {os.environ['PARLEY_TEST_DECIDER']}"}
PATIENCE_SECONDS = 90


def sent(address: str, body: object = None, **headers: str) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request) as reply:
        return json.loads(reply.read())


def until(look: Callable[[], Optional[Any]]) -> Any:
    """Returns what was looked for, as soon as it is there."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come")


class AsksPeople(unittest.TestCase):
    def setUp(self) -> None:
        self.agent = f"python-{uuid.uuid4().hex}"

    def asked(self) -> Any:
        """Returns the call that this test's agent has asked about, as soon as it is there."""
        return until(lambda: (sent(CALLS + "/pending", **{"X-Agent-Id": self.agent})["items"] or [None])[0])

    def meanwhile(self, work: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(thread.join)
        return thread

    def decide(self, **said: object) -> threading.Thread:
        """Decides what this test's agent asks about."""
        return self.meanwhile(lambda: sent(f"{CALLS}/{self.asked()['call_id']}/respond", said, **DECIDER))

    def answer(self, message: str, **said: object) -> threading.Thread:
        """Answers that message to whoever set the server up."""

        def work() -> None:
            ask = until(lambda: [one for one in sent(INBOX, **DECIDER)["asks"] if message in one["title"]])[0]
            sent(f"{INBOX}/{ask['id']}/decision", said, **DECIDER)

        return self.meanwhile(work)
