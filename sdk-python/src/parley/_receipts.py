"""What a receipt says, and who signed it."""

from __future__ import annotations

import base64
import importlib
import json
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, cast

_CLOCKS_APART_MS = 3_600_000
"""By how much this clock and the server's may differ."""


@dataclass(frozen=True)
class Wanted:
    """The approval that was asked for, which a receipt must be of."""

    call_id: str
    """The id that the request was asked under."""
    ask_id: str
    """The server's id of it."""
    digest: str
    agents: Sequence[str]
    """Who asked, as receipts say it: one of these, and by a key with a name that is not known here `agent:`."""
    since: Optional[float]
    """When it was asked, in milliseconds since 1970; None where another may have asked it earlier."""


def can_verify() -> bool:
    """True where the package `cryptography` is installed: the standard library knows no Ed25519."""
    try:
        importlib.import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    except ImportError:
        return False
    return True


def said_in(receipt: str) -> Mapping[str, Any]:
    """Returns what a receipt says, whoever signed it."""
    try:
        said = json.loads(_bytes_of(receipt.split(".")[1]))
    except (IndexError, ValueError):
        return {}
    return cast("Mapping[str, Any]", said) if isinstance(said, dict) else {}


def is_receipt_of(said: Mapping[str, Any], wanted: Wanted) -> bool:
    """True for the receipt of exactly this approval.

    Of door, request, agent and times it may say nothing: whoever signed it left them out.
    """
    seen = (said.get("outcome"), said.get("call_id"), said.get("consent_digest"))
    if seen != ("approved", wanted.call_id, wanted.digest):
        return False
    if (said.get("door", "a2h"), said.get("jti", wanted.ask_id)) != ("a2h", wanted.ask_id):
        return False
    agent = said.get("agent")
    by_any_key = "agent:" in wanted.agents and str(agent).startswith("agent:")
    if "agent" in said and agent not in wanted.agents and not by_any_key:
        return False
    asked = said.get("asked_at", wanted.since or 0)
    settled = said.get("settled_at", asked)
    if not all(isinstance(at, (int, float)) for at in (settled, asked)) or asked > settled:
        return False
    return wanted.since is None or asked >= wanted.since - _CLOCKS_APART_MS


def people_in(said: Mapping[str, Any]) -> Sequence[Any]:
    """Returns the ids of the people who decided."""
    decided: object = said.get("decided")
    every: Sequence[object] = cast("Sequence[object]", decided) if isinstance(decided, list) else ()
    people = [cast("Mapping[str, Any]", one) for one in every if isinstance(one, dict)]
    return [one.get("id") for one in people if one.get("kind") == "person"]


def present_keys(keys: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the keys that sign now: every receipt that a server hands out is by one of these."""
    known: object = keys.get("keys")
    every: Sequence[object] = cast("Sequence[object]", known) if isinstance(known, (list, tuple)) else ()
    return {"keys": [key for key in every if isinstance(key, dict) and "exp" not in key]}


def is_signed(receipt: str, keys: Mapping[str, Any]) -> bool:
    """True when one of these keys, a JWK set, has signed exactly this while it was in use.

    Call it only where `can_verify`. A retired key has `exp`, in seconds: it has signed nothing that was settled from
    then on. Its holder can date a receipt back: for a call that is about to run, give it `present_keys`.
    """
    ed25519: Any = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    invalid: Any = importlib.import_module("cryptography.exceptions").InvalidSignature
    try:
        head, payload, signature = receipt.strip().split(".")
        header = json.loads(_bytes_of(head))
        known = cast("Sequence[Mapping[str, Any]]", keys["keys"])
        [key] = [key for key in known if key.get("kid") == header["kid"] and key.get("crv") == "Ed25519"]
        # A reader that does not understand the names in `crit` must refuse the signature (RFC 7515, section 4.1.11).
        if header["alg"] != "EdDSA" or "crit" in header:
            return False
        if "exp" in key and not said_in(receipt.strip())["settled_at"] < key["exp"] * 1000:
            return False
        public = ed25519.Ed25519PublicKey.from_public_bytes(_bytes_of(str(key["x"])))
        public.verify(_bytes_of(signature), f"{head}.{payload}".encode())
    except (invalid, KeyError, TypeError, ValueError):
        return False
    return True


def _bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
