"""What the asynchronous client does, on the real server whose address is in PARLEY_URL."""

import asyncio
import unittest
import uuid
from typing import Any, Coroutine

from parley import (
    ApprovalRejected,
    ApprovalUndecided,
    AsyncParley,
    NotFound,
    Parley,
    Unreachable,
    ValidationFailed,
)

from asked import URL, AsksPeople
from test_client import later, person_answers


class Asynchronously(AsksPeople):
    def setUp(self) -> None:
        super().setUp()
        self.client = AsyncParley(URL, agent_id=self.agent)

    def test_it_has_the_same_surface(self) -> None:
        def of(kind: type) -> list[str]:
            return [name for name in vars(kind) if not name.startswith("_")]

        self.assertEqual(of(AsyncParley), of(Parley))
        for name in of(Parley):
            inspected = [vars(kind)[name].__annotations__ for kind in (Parley, AsyncParley)]
            arguments = [{name: kind for name, kind in one.items() if name != "return"} for one in inspected]
            self.assertEqual(arguments[0], arguments[1], name)

    def test_many_wait_at_once_beside_other_work(self) -> None:
        async def work() -> list[str]:
            questions = await asyncio.gather(*(self.client.ask(f"Is {number} a good number?") for number in range(3)))
            waits = [asyncio.ensure_future(self.client.wait(one.id, min_count=1)) for one in questions]
            for one in questions:
                await asyncio.to_thread(person_answers, one.id, answer=f"Of {one.id}")
            closed = await asyncio.gather(*waits)
            self.assertEqual([one.responses[0].answer for one in closed], [f"Of {one.id}" for one in questions])
            cancelled = await asyncio.gather(*(self.client.cancel(one.id) for one in questions))
            return [one.status for one in cancelled]

        self.assertEqual(asyncio.run(work()), ["EXPIRED"] * 3)

    def test_answers_are_yielded_as_they_arrive(self) -> None:
        async def work() -> list[Any]:
            question = await self.client.ask("What is the first word?", min_responses=2)
            later(0.1, question.id, answer="one")
            seen = []
            async for response in self.client.responses(question.id, timeout=60):
                seen.append(response.answer)
                if len(seen) == 1:
                    later(0.1, question.id, answer="two")
            self.assertEqual((await self.client.check(question.id)).status, "CLOSED")
            return seen

        self.assertEqual(asyncio.run(work()), ["one", "two"])

    def test_a_person_answers(self) -> None:
        message = f"Question {uuid.uuid4().hex}?"
        self.answer(message, text="tuesday")

        async def work() -> None:
            answer = await self.client.ask(message, to="operator", options=["Monday", "Tuesday"])
            self.assertEqual(answer.value, "Tuesday")
            self.assertEqual(await self.client.answer(answer.id), answer)

        asyncio.run(work())

    def test_a_function_runs_once_with_what_was_approved(self) -> None:
        ran: list[object] = []

        @self.client.require_approval(to="operator", editable=True)
        async def refund(order: str, amount: float = 5) -> str:
            """Refunds."""
            ran.append((order, amount))
            return f"refunded {order}"

        self.decide(approved=True, kwargs={"order": "A-1007", "amount": 4.5})
        self.assertEqual(asyncio.run(refund("A-1007")), "refunded A-1007")
        self.decide(approved=False, comment="Not this one")
        with self.assertRaises(ApprovalRejected) as no:
            asyncio.run(refund("A-1008", amount=1))
        self.assertEqual((no.exception.comment, ran), ("Not this one", [("A-1007", 4.5)]))
        self.assertEqual((refund.__name__, refund.__doc__), ("refund", "Refunds."))
        with self.assertRaises(TypeError):
            self.client.require_approval()(lambda: None)  # type: ignore[type-var]

    def test_a_wait_that_was_given_up_is_taken_up_by_its_id(self) -> None:
        key = uuid.uuid4().hex

        async def crashes() -> None:
            asking = asyncio.ensure_future(self.client.approve("deploy", {"version": 1}, idempotency_key=key))
            await asyncio.to_thread(self.asked)
            asking.cancel()
            await asking

        with self.assertRaises(asyncio.CancelledError):
            asyncio.run(crashes())
        self.decide(approved=True)
        decision = asyncio.run(self.client.decision(key))
        self.assertEqual((decision.args, decision.id), ({"version": 1}, key))

    def test_what_is_withdrawn_is_not_approved(self) -> None:
        async def work() -> None:
            key = uuid.uuid4().hex
            asking = asyncio.ensure_future(self.client.approve("f", {}, idempotency_key=key))
            await asyncio.to_thread(self.asked)
            await self.client.withdraw(key, reason="Done by hand")
            with self.assertRaises(ApprovalUndecided) as gone:
                await asking
            self.assertEqual(gone.exception.code, "CANCELLED")

        asyncio.run(work())

    def test_refusals_are_typed(self) -> None:
        def refused(kind: type[Exception], asking: Coroutine[Any, Any, object]) -> None:
            with self.assertRaises(kind):
                asyncio.run(asking)

        refused(ValidationFailed, self.client.ask("short"))
        refused(NotFound, self.client.check("q_unknown"))
        refused(Unreachable, AsyncParley("http://127.0.0.1:9", retries=1).check("q_any"))
        refused(Unreachable, AsyncParley("nowhere", retries=0).check("q_any"))
        refused(Unreachable, AsyncParley(URL.replace("http", "https"), retries=0).check("q_any"))
        refused(ValueError, AsyncParley(URL, key="two\nlines").check("q_any"))


if __name__ == "__main__":
    unittest.main()
