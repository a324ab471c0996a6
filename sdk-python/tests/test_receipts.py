"""The vectors that both SDKs are held to, and what each makes of a receipt. They are looked at without the real server."""

import asyncio
import base64
import importlib
import json
import time
import unittest
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping

from parley import ApprovalMismatch, AsyncParley, Parley, ParleyError
from parley._consent import consent_digest
from parley._place import connect

from listening import listening

VECTORS: Any = json.loads((Path(__file__).parents[2] / "test/clients/receipt-vectors.json").read_text())
FN: str = VECTORS["fn"]
ARGS: Dict[str, Any] = VECTORS["args"]
REFUSALS = (ApprovalMismatch, ParleyError)


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def filled(members: Mapping[str, Any], words: Mapping[str, str]) -> Dict[str, Any]:
    """Returns the members that are not null, with the words for ids and digests filled in, and times made of now."""
    text = json.dumps({name: value for name, value in members.items() if value is not None})
    for word, stands_for in words.items():
        text = text.replace(f"${word}", stands_for)
    read = json.loads(text)
    for at in ("asked_at", "settled_at"):
        if isinstance(read.get(at), int):
            read[at] += int(time.time() * 1000)
    return read


@unittest.skipUnless(find_spec("cryptography"), "cryptography is not installed")
class AReceipt(unittest.TestCase):
    def setUp(self) -> None:
        ed25519: Any = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
        self.server = ed25519.Ed25519PrivateKey.generate()
        self.other = ed25519.Ed25519PrivateKey.generate()
        public = encoded(self.server.public_key().public_bytes_raw())
        self.keys = {"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": VECTORS["header"]["kid"], "x": public}]}

    def keys_of(self, vector: Mapping[str, Any]) -> Dict[str, Any]:
        if "retired" not in vector:
            return self.keys
        retired = int(time.time() + vector["retired"] / 1000)
        return {"keys": [{**key, "exp": retired} for key in self.keys["keys"]]}

    def receipt(self, vector: Mapping[str, Any], words: Mapping[str, str]) -> str:
        head, payload = (
            encoded(json.dumps(filled({**VECTORS[part], **vector.get(part, {})}, words)).encode())
            for part in ("header", "receipt")
        )
        key = self.other if vector.get("signer") == "other" else self.server
        signature = encoded(key.sign(f"{head}.{payload}".encode()))
        text: str = vector.get("text", "$HEAD.$PAYLOAD.$SIGNATURE")
        return text.replace("$HEAD", head).replace("$PAYLOAD", payload).replace("$SIGNATURE", signature)

    def between(self, vector: Mapping[str, Any]) -> str:
        """Returns the address of somebody between an agent and its server, who answers in the server's place."""
        words = {
            "ID": VECTORS["id"],
            "DIGEST": consent_digest(FN, ARGS),
            "CHANGED": consent_digest(FN, {**ARGS, "to": "XX00"}),
        }

        def answer(request: BaseHTTPRequestHandler) -> None:
            sent = request.rfile.read(int(request.headers["Content-Length"] or 0))
            if sent:
                words["ID"] = json.loads(sent)["call_id"]
            status = filled({**VECTORS["reply"], **vector.get("reply", {})}, words)
            at = datetime.now(timezone.utc).isoformat()
            spec = {"fn": FN, "kwargs": ARGS, "editable": status.pop("editable", None)}
            call_id = status.pop("call_id")
            status = {"requested_at": at, "responded_at": at, **status}
            reply = json.dumps({"run_id": "sdk", "call_id": call_id, "spec": spec, "status": status})
            request.send_response(200)
            request.end_headers()
            request.wfile.write((self.receipt(vector, words) if "/receipts/" in request.path else reply).encode())

        return listening(self, answer)

    def test_approves_what_it_is_of_and_nothing_else(self) -> None:
        for vector in VECTORS["cases"]:
            url, by = self.between(vector), vector.get("by")
            keys = self.keys_of(vector)
            client = Parley(url, agent_id=VECTORS["agent"], receipt_keys=keys)
            later = AsyncParley(url, agent_id=VECTORS["agent"], receipt_keys=keys)
            key = None if vector.get("fresh") else VECTORS["id"]
            ways: List[Callable[[], Any]] = [
                lambda: client.approve(FN, ARGS, by=by, idempotency_key=key),
                lambda: asyncio.run(later.approve(FN, ARGS, by=by, idempotency_key=key)),
            ]
            if key is not None:
                ways.append(lambda: client.decision(key, by=by))
                ways.append(lambda: asyncio.run(later.decision(key, by=by)))
            for n, way in enumerate(ways):
                with self.subTest(vector["name"], way=n):
                    if vector.get("passes"):
                        self.assertTrue(way().verified)
                    else:
                        with self.assertRaises(REFUSALS):
                            way()

    def test_is_of_the_agent_whose_key_it_is_where_that_is_told(self) -> None:
        def passes(agent: str, **options: Any) -> bool:
            url = self.between({"receipt": {"agent": agent}})
            try:
                return Parley(url, receipt_keys=self.keys, **options).decision(VECTORS["id"]).verified
            except REFUSALS:
                return False

        key = "parley_agent_x"
        self.assertTrue(passes("agent:shop", key=key))
        self.assertFalse(passes("open:shop", key=key))
        self.assertTrue(passes("agent:shop", key=key, receipt_agent="agent:shop"))
        self.assertFalse(passes("agent:bank", key=key, receipt_agent="agent:shop"))

        def agents(url: str = "http://h", **more: Any) -> object:
            given = {"key": None, "agent_id": None, "receipt_keys": None, "receipt_agent": None, **more}
            return connect(url, retries=0, timeout=1, **given).agents

        for found in (
            agents(key=key),
            agents(agent_id=f"shop:{key}"),
            agents(agent_id=key),
            agents(f"http://h/k/{key}/"),
        ):
            self.assertEqual(found, ["agent:"])
