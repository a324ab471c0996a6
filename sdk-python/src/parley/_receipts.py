"""What a receipt says, and who signed it."""

from __future__ import annotations

import base64
import importlib
import json
from typing import Any, Mapping, Sequence, cast


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
        return cast("Mapping[str, Any]", json.loads(_bytes_of(receipt.split(".")[1])))
    except (IndexError, ValueError):
        return {}


def is_signed(receipt: str, keys: Mapping[str, Any]) -> bool:
    """True when one of these keys, a JWK set, has signed exactly this. Call it only where `can_verify`."""
    ed25519: Any = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    invalid: Any = importlib.import_module("cryptography.exceptions").InvalidSignature
    try:
        head, payload, signature = receipt.strip().split(".")
        header = json.loads(_bytes_of(head))
        known = cast("Sequence[Mapping[str, Any]]", keys["keys"])
        [key] = [key for key in known if key.get("kid") == header["kid"] and key.get("crv") == "Ed25519"]
        if header["alg"] != "EdDSA":
            return False
        public = ed25519.Ed25519PublicKey.from_public_bytes(_bytes_of(str(key["x"])))
        public.verify(_bytes_of(signature), f"{head}.{payload}".encode())
    except (invalid, KeyError, TypeError, ValueError):
        return False
    return True


def _bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
