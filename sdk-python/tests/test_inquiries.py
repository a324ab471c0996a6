"""Is asked back by the one who set a real server up, whose address is in PARLEY_URL, before they decide."""

import asyncio
import unittest
import urllib.error
import uuid
from typing import Any, Awaitable, Callable, List, Optional

from parley import AskedBack, AsyncParley, Parley

from asked import DECIDER, INBOX, URL, AsksPeople, sent, until


class Inquiries(AsksPeople):
    def setUp(self) -> None:
        super().setUp()
        self.fn = f"pay_{uuid.uuid4().hex}"
        self.client = Parley(URL, agent_id=self.agent)
        self.asked_back: List[str] = []

    def ask(self) -> Any:
        """Returns what this test's agent asks, as soon as it is in the inbox."""
        called = f"{self.agent} (without a key)"
        return until(lambda: next((one for one in sent(INBOX, **DECIDER)["asks"] if one["agent"] == called), None))

    def answer_of(self, ask: Any, place: int) -> str:
        whole = lambda: sent(f"{INBOX}/{ask['id']}", **DECIDER)["inquiries"]
        return until(lambda: whole()[place]["answer"])

    def asks_back_and_decides(self, *questions: str, **said: object) -> None:
        def work() -> None:
            ask = self.ask()
            for place, question in enumerate(questions):
                sent(f"{INBOX}/{ask['id']}/inquiries", {"text": question}, **DECIDER)
                self.answer_of(ask, place)
            digest = sent(f"{INBOX}/{ask['id']}", **DECIDER)["digest"]
            sent(f"{INBOX}/{ask['id']}/decision", {**({"digest": digest} if digest else {}), **said}, **DECIDER)

        self.meanwhile(work)

    def on_inquiry(self, inquiry: AskedBack) -> Optional[str]:
        self.asked_back.append(inquiry.text)
        return f"{inquiry.by['name']} asked: {inquiry.text}"

    def test_an_approval_is_decided_after_the_answers(self) -> None:
        self.asks_back_and_decides("Why?", "For whom?", approved=True)
        decision = self.client.approve(self.fn, {"amount": 1}, to="operator", on_inquiry=self.on_inquiry)
        self.assertEqual((decision.fn, self.asked_back), (self.fn, ["Why?", "For whom?"]))

    def test_a_plan_and_a_question_are_answered_too(self) -> None:
        self.asks_back_and_decides("Why?", approved=True)
        calls: Any = [{"fn": self.fn, "args": {}}]
        self.assertTrue(self.client.approve_all(calls, to="operator", on_inquiry=self.on_inquiry).approved)
        self.asks_back_and_decides("Which?", text="Friday")
        answer = self.client.ask_person("operator", f"When? {self.fn}", on_inquiry=self.on_inquiry)
        self.assertEqual((answer.words, self.asked_back), ("Friday", ["Why?", "Which?"]))

    def test_an_error_of_the_program_ends_the_wait_alone(self) -> None:
        key = uuid.uuid4().hex

        def fail(_: AskedBack) -> Optional[str]:
            raise LookupError("no model")

        self.asks_back_and_decides("Why?", approved=True)
        with self.assertRaises(LookupError):
            self.client.approve(self.fn, {}, to="operator", idempotency_key=key, on_inquiry=fail)
        self.assertEqual(self.client.decision(key, on_inquiry=self.on_inquiry).fn, self.fn)
        self.assertEqual(self.asked_back, ["Why?"])

    def test_a_program_that_answers_none_is_not_asked(self) -> None:
        refused: List[int] = []

        def work() -> None:
            ask = self.ask()
            try:
                sent(f"{INBOX}/{ask['id']}/inquiries", {"text": "Why?"}, **DECIDER)
            except urllib.error.HTTPError as error:
                error.close()
                refused.append(error.code)
            self.decide(approved=True)

        self.meanwhile(work)
        self.client.approve(self.fn, {}, to="operator")
        self.assertEqual(refused, [409])

    def test_an_asynchronous_program_answers_by_a_function_of_either_kind(self) -> None:
        async def later(inquiry: AskedBack) -> Optional[str]:
            await asyncio.sleep(0)
            return self.on_inquiry(inquiry)

        ways: List[Callable[[AskedBack], "Optional[str] | Awaitable[Optional[str]]"]] = [later, self.on_inquiry]
        for way in ways:
            self.asks_back_and_decides("Why?", approved=True)
            client = AsyncParley(URL, agent_id=self.agent)
            asyncio.run(client.approve(self.fn, {"way": str(way)}, to="operator", on_inquiry=way))
        self.assertEqual(self.asked_back, ["Why?", "Why?"])


if __name__ == "__main__":
    unittest.main()
