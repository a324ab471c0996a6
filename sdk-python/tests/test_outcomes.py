"""Reports to a real server, whose address is in PARLEY_URL, what became of approved calls."""

import asyncio
import copy
import dataclasses
import os
import pickle
import signal
import subprocess
import sys
import unittest
import uuid
from typing import Any

from parley import AsyncParley, Conflict, Parley, ValidationFailed
from parley._consent import digest_of

from asked import CALLS, DECIDER, URL, AsksPeople, sent, until

OUTCOMES = URL + "/a2h/v1alpha1/function_calls"


class Outcomes(AsksPeople):
    def setUp(self) -> None:
        super().setUp()
        self.client = Parley(URL, agent_id=self.agent)

    def status(self, call_id: str) -> Any:
        return sent(f"{OUTCOMES}/{call_id}", **{"X-Agent-Id": self.agent})["status"]

    def outcome(self, call_id: str) -> Any:
        return self.status(call_id).get("outcome")

    def comes_to(self, call_id: str, state: str) -> Any:
        """Returns the outcome as soon as it is this one."""

        def look() -> Any:
            outcome = self.outcome(call_id)
            return outcome if outcome and outcome["state"] == state else None

        return until(look)

    def noting(self, **said: object) -> list[str]:
        """Decides what this test's agent asks about; the list has the id of the call then."""
        ids: list[str] = []

        def work() -> None:
            ids.append(self.asked()["call_id"])
            sent(f"{CALLS}/{ids[0]}/respond", said, **DECIDER)

        self.meanwhile(work)
        return ids

    def test_a_decision_reports_the_end_that_the_program_names(self) -> None:
        self.decide(approved=True)
        decision = self.client.approve("f", {})
        self.assertIsNone(self.outcome(decision.id), "nothing is promised")
        for _ in range(2):
            decision.done("Refunded", result={"b": 1.0, "a": [None]})
        outcome = self.outcome(decision.id)
        self.assertEqual((outcome["state"], outcome["text"]), ("done", "Refunded"))
        self.assertEqual(outcome["result_digest"], digest_of({"a": [None], "b": 1}))
        with self.assertRaises(Conflict) as known:
            self.client.decision(decision.id).failed()
        self.assertEqual(known.exception.code, "outcome_known")

        self.decide(approved=True)
        promised = self.client.approve("f", {}, reports=True)
        self.assertEqual(self.outcome(promised.id)["state"], "awaited")
        with self.assertRaises(ValidationFailed):
            promised.failed("x" * 501)
        promised.failed(result=object())
        self.assertEqual({**self.outcome(promised.id), "at": 0}, {"state": "failed", "at": 0})

        self.decide(approved=True)
        unused = self.client.approve("f", {})
        unused.withdrawn("Not needed any more")
        self.assertEqual(self.outcome(unused.id)["state"], "withdrawn")

    def test_the_reports_are_no_part_of_a_decision(self) -> None:
        self.decide(approved=True)
        decision = self.client.approve("f", {"a": 1})
        names = [field.name for field in dataclasses.fields(decision)]
        self.assertEqual(list(dataclasses.asdict(decision)), names)
        for copied in (copy.copy(decision), pickle.loads(pickle.dumps(decision)), dataclasses.replace(decision)):
            self.assertEqual(copied, decision)
            with self.assertRaisesRegex(RuntimeError, "not read from a server"):
                copied.done()

    def test_a_function_behind_its_approval_reports_by_itself(self) -> None:
        @self.client.require_approval(to="operator")
        def refund(order: str) -> dict[str, object]:
            if order == "none":
                raise LookupError("hunter2 is no order")
            return {"order": order}

        ids = self.noting(approved=True)
        self.assertEqual(refund("A-1007"), {"order": "A-1007"})
        self.assertEqual(self.comes_to(ids[0], "done")["result_digest"], digest_of({"order": "A-1007"}))

        ids = self.noting(approved=True)
        with self.assertRaisesRegex(LookupError, "hunter2"):
            refund("none")
        self.assertEqual(self.comes_to(ids[0], "failed")["text"], "LookupError")

    def test_a_function_does_not_run_under_an_approval_that_another_run_has_or_that_has_ended(self) -> None:
        ran: list[object] = []
        send = self.client._connection.send

        def meanwhile(path: str, body: object) -> Any:
            """Has somebody else be first, right before the client claims the call."""

            def sending(method: str, to: str, given: Any = None, **more: Any) -> Any:
                if to.endswith("/claim"):
                    call_id = to.split("/")[-2]
                    sent(f"{URL}/a2h/v1alpha1{path.format(call_id)}", body, **{"X-Agent-Id": self.agent})
                return send(method, to, given, **more)

            return sending

        @self.client.require_approval(name="refund", to="operator")
        def refund() -> None:
            ran.append(1)

        for path, body, code, says in (
            ("/agent/function_calls/{}/claim", {"run": "other"}, "already_claimed", "another run has started it"),
            ("/function_calls/{}/outcome", {"outcome": "withdrawn"}, "outcome_known", r"has ended \(withdrawn\)"),
        ):
            self.client._connection.send = meanwhile(path, body)  # type: ignore[method-assign]
            self.decide(approved=True)
            with self.assertRaisesRegex(Conflict, f"^refund did not run: .*{says}") as refused:
                refund()
            self.assertEqual((refused.exception.code, ran), (code, []))

    def test_an_approval_is_given_back_where_the_program_stops_before_the_start(self) -> None:
        send = self.client._connection.send

        def stopping(method: str, path: str, body: Any = None, **more: Any) -> Any:
            if path.endswith("/claim"):
                raise KeyboardInterrupt
            return send(method, path, body, **more)

        self.client._connection.send = stopping  # type: ignore[method-assign]
        ids = self.noting(approved=True)
        with self.assertRaises(KeyboardInterrupt):
            self.client.require_approval(name="f")(lambda: self.fail("it ran"))()
        self.comes_to(ids[0], "withdrawn")

    def test_a_process_that_is_killed_leaves_a_call_that_has_started(self) -> None:
        program = (
            "import sys\nfrom parley import Parley\n"
            f"@Parley({URL!r}, agent_id={self.agent!r}).require_approval(name='f')\n"
            "def f():\n    print('running', flush=True)\n    sys.stdin.read()\nf()\n"
        )
        running = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with running:
            ids = self.noting(approved=True)
            assert running.stdout is not None
            self.assertEqual(running.stdout.readline().strip(), b"running")
            os.kill(running.pid, signal.SIGKILL)
        self.assertEqual(self.outcome(ids[0])["state"], "started")

    def test_a_report_goes_out_although_the_program_ends(self) -> None:
        program = (
            "import asyncio\nfrom parley import AsyncParley\n"
            f"@AsyncParley({URL!r}, agent_id={self.agent!r}).require_approval(name='f')\n"
            "async def f():\n    return 1\nprint(asyncio.run(f()))\n"
        )
        ids = self.noting(approved=True)
        self.assertEqual(subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE).stdout.strip(), b"1")
        self.assertEqual(self.outcome(ids[0])["state"], "done")

    def test_an_older_server_runs_every_call_and_takes_no_report(self) -> None:
        send = self.client._connection.send

        def older(method: str, path: str, body: Any = None, **more: Any) -> Any:
            given = {name: value for name, value in body.items() if name != "reports"} if body else body
            later = path.endswith(("/claim", "/outcome"))
            return send(method, path + "-of-later" if later else path, given, **more)

        self.client._connection.send = older  # type: ignore[method-assign]
        ids = self.noting(approved=True)
        self.assertEqual(self.client.require_approval(name="f")(lambda: 1)(), 1)
        self.client.decision(ids[0]).done()
        self.assertIsNone(self.outcome(ids[0]))

    def test_a_used_call_of_a_plan_reports_its_end(self) -> None:
        title = f"Plan {uuid.uuid4().hex}"
        inbox = f"{URL}/people/me/asks"

        def work() -> None:
            [ask] = until(lambda: [one for one in sent(inbox, **DECIDER)["asks"] if one["title"] == title])
            plan = sent(f"{inbox}/{ask['id']}", **DECIDER)
            sent(f"{inbox}/{ask['id']}/decision", {"digest": plan["digest"], "approved": True}, **DECIDER)

        self.meanwhile(work)
        calls = [{"fn": "f", "args": {"n": n}} for n in (1, 2)]
        first, second = self.client.approve_all(calls, to="operator", title=title).calls  # type: ignore[arg-type]
        used = first.use()
        self.assertEqual(self.outcome(first.id)["state"], "started")
        used.done(result="paid")
        self.assertEqual(self.outcome(first.id)["result_digest"], digest_of("paid"))
        second.use().failed("No money")
        self.assertEqual(self.outcome(second.id)["text"], "No money")

    def test_the_asynchronous_client_does_the_same(self) -> None:
        client = AsyncParley(URL, agent_id=self.agent)

        async def work() -> None:
            self.decide(approved=True)
            decision = await client.approve("f", {}, reports=True)
            await decision.done("Fine", result=1)
            self.assertEqual(self.outcome(decision.id)["result_digest"], digest_of(1))
            self.decide(approved=True)
            other = await client.approve("f", {})
            await other.withdrawn()
            with self.assertRaises(Conflict):
                await (await client.decision(other.id)).failed()

        asyncio.run(work())

        ids = self.noting(approved=True)
        with self.assertRaises(ZeroDivisionError):
            asyncio.run(client.require_approval(name="f")(fails)())
        self.assertEqual(self.comes_to(ids[0], "failed")["text"], "ZeroDivisionError")

        async def cancelled() -> None:
            loop = asyncio.get_running_loop()
            send = client._connection.send

            def stopping(method: str, path: str, body: Any = None, **more: Any) -> Any:
                if path.endswith("/claim"):
                    loop.call_soon(task.cancel)
                return send(method, path, body, **more)

            client._connection.send = stopping  # type: ignore[method-assign]
            task = asyncio.ensure_future(client.require_approval(name="f")(fails)())
            await task

        ids = self.noting(approved=True)
        with self.assertRaises(asyncio.CancelledError):
            asyncio.run(cancelled())
        self.comes_to(ids[0], "withdrawn")


async def fails() -> None:
    raise ZeroDivisionError("hunter2")


if __name__ == "__main__":
    unittest.main()
