"""Runs against a real server, whose address is in PARLEY_URL."""

import json
import os
import threading
import time
import unittest
import urllib.request
import uuid

from parley import Conflict, NotFound, Parley, QuotaExceeded, Unreachable, ValidationFailed

URL = os.environ["PARLEY_URL"]


def person_answers(question_id: str, **answer: object) -> None:
    body = json.dumps({"question_id": question_id, **answer}).encode()
    headers = {"Content-Type": "application/json", "X-Fingerprint": uuid.uuid4().hex}
    with urllib.request.urlopen(urllib.request.Request(URL + "/human/responses", body, headers)) as reply:
        assert reply.status == 201


def later(seconds: float, question_id: str, **answer: object) -> threading.Timer:
    timer = threading.Timer(seconds, person_answers, [question_id], answer)
    timer.start()
    return timer


class AgentAsksPeople(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Parley(URL, agent_id=f"python-{uuid.uuid4().hex}")

    def test_text_answers_come_back_with_their_confidence(self) -> None:
        question = self.client.ask("Return None, or raise an exception?", audience=["technical"], min_responses=2)
        self.assertEqual(question.status, "OPEN")
        person_answers(question.id, answer="Raise", confidence=4)
        later(0.2, question.id, answer="Return None")

        responses = self.client.wait_for_responses(question.id, timeout=20)

        self.assertEqual([(one.answer, one.confidence) for one in responses], [("Raise", 4), ("Return None", None)])

    def test_a_choice_has_a_tally_and_names_the_option(self) -> None:
        question = self.client.ask("Which label is clearer?", options=["Send", "Submit"], min_responses=1)
        person_answers(question.id, selected_option=1)

        closed = self.client.wait(question.id, timeout=20)

        self.assertEqual(closed.status, "CLOSED")
        self.assertTrue(closed.is_final)
        self.assertEqual(closed.summary, {"Send": 0, "Submit": 1})
        self.assertEqual(closed.responses[0].option, "Submit")
        self.assertIsNotNone(closed.closed_at)

    def test_a_wait_ends_with_as_many_answers_as_it_was_told(self) -> None:
        question = self.client.ask("Is this error message clear?", min_responses=3)
        person_answers(question.id, answer="Yes")

        partial = self.client.wait(question.id, min_count=1, timeout=20)

        self.assertEqual((partial.status, partial.current_responses), ("PARTIAL", 1))

    def test_a_wait_ends_with_its_time(self) -> None:
        question = self.client.ask("Is anybody there today?")
        started = time.monotonic()
        self.assertEqual(self.client.wait_for_responses(question.id, timeout=0.5), ())
        self.assertLess(time.monotonic() - started, 10)

    def test_answers_are_yielded_as_they_arrive(self) -> None:
        question = self.client.ask("What is the first word?", min_responses=2)
        later(0.1, question.id, answer="one")
        seen = []
        for response in self.client.responses(question.id, timeout=20):
            seen.append(response.answer)
            if len(seen) == 1:
                later(0.1, question.id, answer="two")
        self.assertEqual(seen, ["one", "two"])

    def test_a_retry_asks_once(self) -> None:
        key = uuid.uuid4().hex
        one = self.client.ask("Is this asked only once?", idempotency_key=key)
        other = self.client.ask("Is this asked only once?", idempotency_key=key)
        self.assertEqual(one.id, other.id)
        with self.assertRaises(Conflict):
            self.client.ask("Is this something else?", idempotency_key=key)

    def test_a_cancelled_question_is_final(self) -> None:
        question = self.client.ask("Will this be cancelled?")
        cancelled = self.client.cancel(question.id)
        self.assertEqual((cancelled.status, cancelled.cancelled), ("EXPIRED", True))

    def test_refusals_are_typed(self) -> None:
        with self.assertRaises(ValidationFailed) as short:
            self.client.ask("short")
        self.assertEqual(short.exception.details["field"], "prompt")
        self.assertEqual(short.exception.code, "VALIDATION_ERROR")
        with self.assertRaises(NotFound):
            self.client.check("q_unknown")

    def test_the_quota_is_typed(self) -> None:
        with self.assertRaises(QuotaExceeded) as full:
            for number in range(int(os.environ["PARLEY_TEST_QUOTA"]) + 1):
                self.client.ask(f"Is this question number {number}?")
        self.assertEqual(full.exception.details["limit"], int(os.environ["PARLEY_TEST_QUOTA"]))
        self.assertIsNotNone(full.exception.retry_after)

    def test_a_server_that_is_not_there_is_unreachable(self) -> None:
        nobody = Parley("http://127.0.0.1:9", retries=1)
        with self.assertRaises(Unreachable):
            nobody.check("q_any")


if __name__ == "__main__":
    unittest.main()
