"""Asks the one who set a real server up, whose address is in PARLEY_URL, in words, by options and by a schema."""

import asyncio
import unittest
import uuid
from typing import Callable, List

from parley import AsyncParley, Conflict, NotAnswered, NotFound, Parley, UnknownPerson

from asked import DECIDER, INBOX, URL, AsksPeople, sent, until


class Questions(AsksPeople):
    def setUp(self) -> None:
        super().setUp()
        self.client = Parley(URL, agent_id=self.agent)
        self.message = f"Question {uuid.uuid4().hex}?"

    def test_a_person_answers_in_words(self) -> None:
        self.answer(self.message, text="The Ledger")
        answer = self.client.ask_person("operator", self.message)
        self.assertEqual((answer.value, answer.words, answer.by["name"]), ("The Ledger", "The Ledger", "operator"))
        self.assertEqual(self.client.answer(answer.id), answer)

    def test_ask_with_to_asks_a_person(self) -> None:
        self.answer(self.message, text="tuesday")
        answer = self.client.ask(self.message, to="operator", options=["Monday", "Tuesday"])
        self.assertEqual((answer.value, answer.by["name"]), ("Tuesday", "operator"))
        with self.assertRaises(TypeError):
            self.client.ask(self.message, to="operator", min_responses=2)  # type: ignore[call-overload]
        with self.assertRaises(TypeError):
            self.client.ask(self.message, schema={"type": "integer"})  # type: ignore[call-overload]

    def test_a_person_chooses_one_of_the_options(self) -> None:
        self.answer(self.message, text="tuesday")
        answer = self.client.ask_person("operator", self.message, options=["Monday", "Tuesday"])
        self.assertEqual(answer.value, "Tuesday")

    def test_a_person_answers_with_what_fits_the_schema(self) -> None:
        self.answer(self.message, value={"days": 3})
        schema = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
        self.assertEqual(self.client.ask_person("operator", self.message, schema=schema).value, {"days": 3})
        with self.assertRaises(TypeError):
            self.client.ask_person("operator", self.message, schema=schema, options=["Monday"])

    def test_silence_is_no_answer(self) -> None:
        key = uuid.uuid4().hex
        with self.assertRaises(NotAnswered) as late:
            self.client.ask_person("operator", self.message, timeout_seconds=10, idempotency_key=key)
        self.assertEqual((late.exception.code, late.exception.id), ("EXPIRED", key))
        with self.assertRaises(NotAnswered):
            self.client.answer(key)

    def test_one_key_asks_once(self) -> None:
        key = uuid.uuid4().hex
        self.answer(self.message, text="yes")
        one = self.client.ask_person("operator", self.message, idempotency_key=key)
        self.assertEqual(self.client.ask_person("operator", self.message, idempotency_key=key), one)
        with self.assertRaises(Conflict):
            self.client.ask_person("operator", "Something else?", idempotency_key=key)

    def test_it_can_be_taken_back(self) -> None:
        ways: List[Callable[[str], None]] = [
            lambda key: self.client.withdraw_question(key, reason="It was shipped"),
            lambda key: asyncio.run(AsyncParley(URL, agent_id=self.agent).withdraw_question(key)),
        ]
        for withdraw in ways:
            key = uuid.uuid4().hex

            def taken_back(key: str = key, withdraw: Callable[[str], None] = withdraw) -> None:
                until(lambda: [one for one in sent(INBOX, **DECIDER)["asks"] if self.message in one["title"]])
                withdraw(key)

            self.meanwhile(taken_back)
            with self.assertRaises(NotAnswered) as cancelled:
                self.client.ask_person("operator", self.message, idempotency_key=key)
            self.assertEqual((cancelled.exception.code, cancelled.exception.id), ("CANCELLED", key))
            withdraw(key)
        with self.assertRaises(NotFound):
            self.client.withdraw_question("never-asked")

        self.answer(self.message, text="yes")
        answer = self.client.ask_person("operator", self.message)
        with self.assertRaises(Conflict):
            self.client.withdraw_question(answer.id)

    def test_it_must_be_plain_who_is_meant(self) -> None:
        with self.assertRaises(UnknownPerson):
            self.client.ask_person("Nobody At All", self.message)
        with self.assertRaises(NotFound):
            self.client.answer("never-asked")


if __name__ == "__main__":
    unittest.main()
