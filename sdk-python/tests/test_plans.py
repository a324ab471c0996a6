"""Asks the one who set a real server up, whose address is in PARLEY_URL, about several calls at once."""

import asyncio
import json
import unittest
import uuid
from typing import Any, Callable, List, cast

from parley import (
    AsyncParley,
    Conflict,
    DecidedCall,
    DecidedPlan,
    Evidence,
    NotFound,
    Parley,
    ParleyError,
    PlannedCall,
    UnknownPerson,
)
from parley._consent import consent_digest

from asked import CALLS, DECIDER, INBOX, URL, AsksPeople, sent, until


class Plans(AsksPeople):
    def setUp(self) -> None:
        super().setUp()
        self.client = Parley(URL, agent_id=self.agent)
        self.title = f"Pay the suppliers {uuid.uuid4().hex}"
        self.calls: List[PlannedCall] = [
            {"fn": "pay_out", "args": {"amount": 1, "to": "Ana"}},
            {"fn": "pay_out", "args": {"amount": 2, "to": "Bo"}},
        ]

    def shown(self) -> Any:
        """Returns this test's plan as it is shown in the inbox, as soon as it is there."""

        def look() -> Any:
            plans = [one for one in sent(INBOX, **DECIDER)["asks"] if one["fn"] == "plan"]
            whole = [sent(f"{INBOX}/{one['id']}", **DECIDER) for one in plans]
            return next((one for one in whole if one["plan"]["title"] == self.title), None)

        return until(look)

    def decides(self, **said: object) -> None:
        """Decides this test's plan."""

        def work() -> None:
            plan = self.shown()
            sent(f"{INBOX}/{plan['id']}/decision", {"digest": plan["digest"], **said}, **DECIDER)

        self.meanwhile(work)

    def approve_all(self, **more: Any) -> "DecidedPlan[DecidedCall]":
        return self.client.approve_all(self.calls, **{"to": "operator", "title": self.title, **more})

    def assert_not_in_plan(self, use: Callable[[], object], reason: str) -> None:
        with self.assertRaises(Conflict) as refused:
            use()
        self.assertEqual((refused.exception.code, refused.exception.details["reason"]), ("not_in_plan", reason))

    def test_each_call_is_used_once_and_in_order(self) -> None:
        evidence: List[Evidence] = [
            {"kind": "markdown", "title": "Why", "text": "The bills are in."},
            {"kind": "diff", "text": "-a\n+b\n"},
            {"kind": "table", "columns": ["to", "amount"], "rows": [["Ana", "1"]]},
            {"kind": "link", "url": "https://shop.example/bills"},
        ]
        self.decides(approved=True, comment="Go on")
        plan = self.approve_all(reason="It is Friday", evidence=evidence)
        first, second = plan.calls
        self.assertEqual((plan.approved, plan.comment, plan.by and plan.by["via"]), (True, "Go on", "api"))
        self.assertEqual([call.approved for call in plan.calls], [True, True])
        self.assertEqual((first.comment, second.args), ("Go on", {"amount": 2, "to": "Bo"}))
        self.assertEqual(second.digest, consent_digest("pay_out", self.calls[1]["args"]))

        self.assert_not_in_plan(second.use, "order")
        first.use()
        self.assert_not_in_plan(first.use, "spent")
        for _ in range(2):
            second.use(run="run-1")
        self.assert_not_in_plan(lambda: second.use(run="run-2"), "spent")

    def test_people_see_the_purpose_the_calls_and_the_evidence(self) -> None:
        self.decides(approved=True)
        seen: List[Any] = []
        self.meanwhile(lambda: seen.append(self.shown()))
        self.approve_all(evidence=[{"kind": "markdown", "title": "Why", "text": "The bills are in."}])
        until(lambda: seen)
        plan = seen[0]["plan"]
        self.assertEqual([call["fn"] for call in plan["calls"]], ["pay_out", "pay_out"])
        self.assertEqual([one["title"] for one in plan["evidence"]], ["Why"])

    def test_a_call_that_was_taken_out_is_not_approved(self) -> None:
        self.decides(approved=True, approved_calls=1)
        plan = self.approve_all()
        self.assertEqual([plan.approved, *(call.approved for call in plan.calls)], [False, True, False])
        self.assertRegex(plan.calls[1].comment or "", "taken out")
        plan.calls[0].use()
        self.assert_not_in_plan(plan.calls[1].use, "not_approved")

    def test_a_rejection_approves_nothing_and_is_returned(self) -> None:
        self.decides(approved=False, comment="Not this week")
        plan = self.approve_all()
        self.assertEqual((plan.approved, plan.comment), (False, "Not this week"))
        self.assertEqual([(call.approved, call.comment) for call in plan.calls], [(False, "Not this week")] * 2)
        self.assert_not_in_plan(plan.calls[0].use, "not_approved")

    def test_silence_approves_nothing(self) -> None:
        plan = self.approve_all(timeout_seconds=10)
        self.assertEqual((plan.approved, plan.status["expired"]), (False, True))
        self.assertFalse(any(call.approved for call in plan.calls))

    def test_it_is_joined_under_its_key_and_withdrawn_by_it(self) -> None:
        ways: List[Callable[[str], None]] = [
            lambda key: self.client.withdraw_plan(key, reason="Changed"),
            lambda key: asyncio.run(AsyncParley(URL, agent_id=self.agent).withdraw_plan(key)),
        ]
        for withdraw in ways:
            key = uuid.uuid4().hex
            joined: List[DecidedPlan[DecidedCall]] = []

            def join(key: str = key, joined: List[DecidedPlan[DecidedCall]] = joined) -> None:
                joined.append(self.approve_all(idempotency_key=key))

            threads = [self.meanwhile(join) for _ in range(2)]
            self.shown()
            withdraw(key)
            for thread in threads:
                thread.join()
            self.assertEqual([(plan.id, plan.approved) for plan in joined], [(key, False)] * 2)
            self.assertTrue(all(plan.status["cancelled"] for plan in joined))
            with self.assertRaises(Conflict):
                self.client.approve_all([{"fn": "pay_out", "args": {}}], idempotency_key=key)
        with self.assertRaises(NotFound):
            self.client.withdraw_plan("never-asked")

    def test_arguments_are_copied_before_anybody_is_asked(self) -> None:
        args = {"amount": 1}

        def work() -> None:
            plan = self.shown()
            args["amount"] = 1000
            sent(f"{INBOX}/{plan['id']}/decision", {"digest": plan["digest"], "approved": True}, **DECIDER)

        self.meanwhile(work)
        [call] = self.client.approve_all([{"fn": "pay_out", "args": args}], to="operator", title=self.title).calls
        self.assertEqual(call.args, {"amount": 1})
        call.use()

    def test_nobody_is_asked_about_what_json_cannot_carry(self) -> None:
        for args in ({"amount": float("nan")}, {1: 2}, {"to": (1, 2)}, {"to": "\ud83d"}):
            with self.assertRaisesRegex(TypeError, r"^calls\[1\]\.args"):
                self.client.approve_all([self.calls[0], {"fn": "pay_out", "args": cast("Any", args)}])
        cut: List[Any] = [{"title": "\ud83d"}, {"reason": "\ud83d"}, {"evidence": [{"kind": "diff", "text": "\ud83d"}]}]
        for more in cut:
            with self.assertRaisesRegex(TypeError, f"^{next(iter(more))}"):
                self.client.approve_all(self.calls, **more)
        with self.assertRaisesRegex(TypeError, r"^planned\[0\]"):
            self.client.approve_all([{"fn": "\ud83d", "args": {}}])
        with self.assertRaises(TypeError):
            self.client.approve_all(self.calls, to="operator", channel={"inbox": {}})
        with self.assertRaises(UnknownPerson):
            self.client.approve_all(self.calls, to="Nobody At All")
        self.assertEqual(sent(CALLS + "/pending", **{"X-Agent-Id": self.agent})["items"], [])

    def test_the_calls_that_the_server_has_are_compared_with_what_runs(self) -> None:
        self.decides(approved=True)
        send = self.client._connection.send

        def swapped(method: str, path: str, body: Any = None, **more: Any) -> Any:
            if body is not None and "calls" in body:
                body = json.loads(json.dumps(body).replace('"amount": 2', '"amount": 200'))
            return send(method, path, body, **more)

        self.client._connection.send = swapped  # type: ignore[method-assign]
        with self.assertRaisesRegex(ParleyError, "another call 2 in this plan") as other:
            self.approve_all()
        self.assertEqual(other.exception.code, "BAD_REPLY")

    def test_a_call_with_the_receipt_of_another_is_not_used(self) -> None:
        self.decides(approved=True)
        plan = self.approve_all()
        read = self.client._connection.read_text
        calls = sent(f"{URL}/a2h/v1alpha1/plans/{plan.id}", **{"X-Agent-Id": self.agent})["calls"]
        other = f"/receipts/{calls[1]['ask_id']}"
        self.client._connection.read_text = lambda path: read(other)  # type: ignore[method-assign]
        with self.assertRaisesRegex(ParleyError, "The receipt is not that of pay_out") as refused:
            plan.calls[0].use()
        self.assertEqual(refused.exception.code, "BAD_REPLY")
        self.client._connection.read_text = read  # type: ignore[method-assign]
        plan.calls[0].use()

    def test_the_asynchronous_client_does_the_same(self) -> None:
        client = AsyncParley(URL, agent_id=self.agent)
        self.decides(approved=True, approved_calls=1)

        async def work() -> None:
            plan = await client.approve_all(self.calls, channel={"inbox": {}}, title=self.title)
            first, second = plan.calls
            self.assertEqual([plan.approved, first.approved, second.approved], [False, True, False])
            await first.use(run="run-1")
            await first.use(run="run-1")
            for use in (first.use, second.use):
                with self.assertRaises(Conflict) as refused:
                    await use()
                self.assertEqual(refused.exception.code, "not_in_plan")

        asyncio.run(work())


if __name__ == "__main__":
    unittest.main()
