"""Asks the one who set a real server up, whose address is in PARLEY_URL, whether something may run."""

import asyncio
import base64
import json
import threading
import unittest
import uuid
from importlib.util import find_spec
from typing import Any, cast

from parley import (
    ApprovalMismatch,
    ApprovalRejected,
    ApprovalUndecided,
    AsyncParley,
    Conflict,
    NotApproved,
    NotFound,
    Parley,
    UnknownPerson,
    ValidationFailed,
)
from parley._consent import canonical, consent_digest, copy_of

from asked import URL, AsksPeople, sent

CAN_VERIFY = find_spec("cryptography") is not None


class Approvals(AsksPeople):
    def setUp(self) -> None:
        super().setUp()
        self.client = Parley(URL, agent_id=self.agent)

    def test_an_approval_is_of_exactly_the_arguments(self) -> None:
        args = {"order": "A-1007", "amount": 49.9, "id": 1152921504606846977, "lines": [30.0, None, "näher"]}
        self.decide(approved=True, comment="fine")
        decision = self.client.approve("issue_refund", args, to="operator", reason="Torn on arrival")
        self.assertEqual((decision.args, decision.edited, decision.comment), (args, False, "fine"))
        self.assertIsNot(decision.args, args)
        self.assertEqual(decision.by["via"], "api")
        self.assertEqual(decision.digest, consent_digest("issue_refund", args))
        self.assertTrue(decision.receipt_url.startswith(URL + "/receipts/ask_"))
        self.assertEqual(decision.verified, CAN_VERIFY)
        self.assertEqual(self.client.decision(decision.id), decision)

    def test_a_receipt_that_no_key_of_the_server_has_signed_is_none(self) -> None:
        key = uuid.uuid4().hex
        self.decide(approved=True)
        head, payload, signature = self.client.approve("f", {}, idempotency_key=key).receipt.split(".")
        keys = sent(URL + "/.well-known/jwks.json")
        forged = {"kid": keys["keys"][0]["kid"], "kty": "OKP", "crv": "Ed25519", "x": "A" * 43}
        unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
        swapped = {
            "of another signature": (keys, [head, payload, signature[::-1]]),
            "of nobody's": (keys, [unsigned, payload, ""]),
            "by another key": ({"keys": [forged]}, [head, payload, signature]),
            "by no key": ({"keys": []}, [head, payload, signature]),
        }
        read = self.client._connection.read_text
        for name, (known, parts) in swapped.items():
            with self.subTest(name):
                client = Parley(URL, agent_id=self.agent, **({"receipt_keys": known} if CAN_VERIFY else {}))
                client._connection.read_text = lambda path: _instead(read(path), ".".join(parts))  # type: ignore[method-assign]
                if CAN_VERIFY:
                    with self.assertRaises(ApprovalMismatch):
                        client.decision(key)
                else:
                    self.assertFalse(client.decision(key).verified)
        if CAN_VERIFY:
            self.assertTrue(Parley(URL, agent_id=self.agent, receipt_keys=keys).decision(key).verified)
        else:
            with self.assertRaises(RuntimeError):
                Parley(URL, receipt_keys=keys)

    def test_one_of_those_named_must_have_approved(self) -> None:
        key = uuid.uuid4().hex
        self.decide(approved=True)
        decided = self.client.approve("f", {}, by="enrolled", idempotency_key=key)
        own = decided.by["id"]
        self.assertEqual(self.client.decision(key, by=["999", own]), decided)
        with self.assertRaises(ApprovalMismatch):
            self.client.decision(key, by=["999"])
        with self.assertRaises(TypeError):
            self.client.decision(key, by=own)

    def test_a_rejection_says_why(self) -> None:
        self.decide(approved=False, reject_option_name="later")
        with self.assertRaises(ApprovalRejected) as no:
            self.client.approve("f", {}, reject_options=[{"name": "later", "title": "Not today"}])
        self.assertEqual((no.exception.code, no.exception.comment), ("REJECTED", "Not today"))
        self.assertEqual(no.exception.option, "later")

    def test_silence_is_no_approval(self) -> None:
        with self.assertRaises(ApprovalUndecided) as late:
            self.client.approve("f", {}, timeout_seconds=10)
        self.assertEqual(late.exception.code, "EXPIRED")

    def test_a_decision_is_for_one_run(self) -> None:
        key = uuid.uuid4().hex

        def early() -> None:
            self.asked()
            with self.assertRaises(Conflict) as open_still:
                self.client.claim(key, run="run-1")
            self.assertEqual(open_still.exception.code, "not_decided")
            self.decide(approved=True)

        thread = self.meanwhile(early)
        self.client.approve("f", {}, idempotency_key=key)
        thread.join()
        for _ in range(2):
            self.client.claim(key, run="run-1")
        with self.assertRaises(Conflict) as taken:
            self.client.claim(key, run="run-2")
        self.assertEqual(taken.exception.code, "already_claimed")
        with self.assertRaises(Conflict):
            asyncio.run(AsyncParley(URL, agent_id=self.agent).claim(key, run="run-2"))
        with self.assertRaises(NotFound):
            self.client.claim("never-asked", run="run-1")

    def test_what_is_withdrawn_is_not_approved(self) -> None:
        thread = self.meanwhile(lambda: self.client.withdraw(self.asked()["call_id"], reason="Done by hand"))
        with self.assertRaises(ApprovalUndecided) as gone:
            self.client.approve("f", {})
        thread.join()
        self.assertEqual(gone.exception.code, "CANCELLED")
        with self.assertRaises(ApprovalUndecided):
            self.client.decision(gone.exception.id)

    def test_a_function_runs_once_with_what_was_approved(self) -> None:
        ran: list[object] = []

        @self.client.require_approval(to="operator", editable=True)
        def refund(order: str, amount: float = 5, *, lines: list[int], **more: object) -> str:
            """Refunds."""
            ran.append((order, amount, lines, more))
            return f"refunded {order}"

        lines = [1, 2]
        said = {"order": "A-1007", "amount": 5, "lines": [1, 2], "note": "n"}

        def meanwhile() -> None:
            self.assertEqual(self.asked()["spec"]["kwargs"], said)
            lines.append(3)
            self.decide(approved=True)

        thread = threading.Thread(target=meanwhile)
        thread.start()
        self.assertEqual(refund("A-1007", lines=lines, note="n"), "refunded A-1007")
        thread.join()
        self.decide(approved=True, kwargs={**said, "amount": 4.5})
        refund("A-1007", lines=[1, 2], note="n")
        self.assertEqual(ran, [("A-1007", 5, [1, 2], {"note": "n"}), ("A-1007", 4.5, [1, 2], {"note": "n"})])
        self.assertEqual((refund.__name__, refund.__doc__), ("refund", "Refunds."))

    def test_a_function_does_not_run_without_approval(self) -> None:
        ran: list[object] = []

        @self.client.require_approval(name="drop_tables")
        def drop(what: object) -> None:
            ran.append(what)

        self.decide(approved=False, comment="No")
        with self.assertRaises(NotApproved):
            drop("all")
        deep: list[object] = []
        deep.append(deep)
        for args in ((1, 2), {1: 2}, float("nan"), object(), [b"bytes"], deep):
            with self.assertRaises(TypeError):
                drop(args)
        for cut in ("done \ud83d", ["done", "\ude00"], {"to": "\ud83d"}):
            with self.assertRaisesRegex(TypeError, r"^args\.what.* is nothing that JSON can carry"):
                drop(cut)
        for more in ({"reason": "\ud83d"}, {"reject_options": [{"name": "\ud83d"}]}):
            with self.assertRaisesRegex(TypeError, f"^{next(iter(more))}"):
                self.client.approve("note", {}, **cast("Any", more))
        with self.assertRaisesRegex(TypeError, "^message"):
            self.client.ask_person("ana", "\ud83d")
        with self.assertRaises(TypeError):
            self.client.require_approval()(lambda *args: args)

        async def later() -> None: ...

        with self.assertRaises(TypeError):
            self.client.require_approval()(later)
        self.assertEqual(ran, [])

    def test_what_was_approved_is_compared_with_what_runs(self) -> None:
        self.decide(approved=True)
        send = self.client._connection.send

        def swapped(method: str, path: str, body: Any = None, **more: Any) -> Any:
            if body is not None and "spec" in body:
                body = json.loads(json.dumps(body).replace("49.9", "4.99"))
            return send(method, path, body, **more)

        self.client._connection.send = swapped  # type: ignore[method-assign]
        with self.assertRaises(ApprovalMismatch):
            self.client.approve("issue_refund", {"amount": 49.9})

    def test_one_key_asks_once(self) -> None:
        key = uuid.uuid4().hex
        self.decide(approved=True)
        one = self.client.approve("f", {"a": 1}, idempotency_key=key)
        self.assertEqual(self.client.approve("f", {"a": 1}, idempotency_key=key), one)
        self.assertEqual(one.id, key)
        with self.assertRaises(Conflict):
            self.client.approve("f", {"a": 2}, idempotency_key=key)
        with self.assertRaises(NotFound):
            self.client.decision("never-asked")

    def test_it_must_be_plain_who_is_meant(self) -> None:
        for name in ("Nobody At All", "!"):
            with self.assertRaises(UnknownPerson):
                self.client.approve("f", {}, to=name)
        with self.assertRaises(ValidationFailed) as unknown:
            self.client.approve("f", {}, to="on-call")
        self.assertEqual(unknown.exception.code, "unknown_channel")
        with self.assertRaises(TypeError):
            self.client.approve("f", {}, to="operator", channel={"inbox": {}})

    def test_numbers_and_names_are_written_as_on_the_server(self) -> None:
        for number, text in [
            (30.0, "30"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (-1.5e-10, "-1.5e-10"),
            (123456.789, "123456.789"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (1152921504606846977, "1152921504606846977"),
        ]:
            self.assertEqual(canonical(copy_of(number)), text)
        named = {"\U0001f600": 1, "\ufb33": 2, "a": True, "\u20ac": "\u007f\u2028\n\u0001"}
        self.assertEqual(canonical(named), '{"a":true,"€":"\u007f\u2028\\n\\u0001","😀":1,"\ufb33":2}')


def _instead(steps: Any, text: str) -> Any:
    """Reads what was to be read, and says something else."""
    yield from steps
    return text


if __name__ == "__main__":
    unittest.main()
