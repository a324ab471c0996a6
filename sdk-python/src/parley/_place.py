"""Where the server is, and what it knows its client by."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional

from ._http import Connection
from ._receipts import can_verify

_A2H_PATHS = ("/a2h/v1alpha1", "/humanlayer/v1")
"""Where those addresses of A2H begin that stand below a server's own."""


def _place(url: Optional[str]) -> tuple[Optional[str], Optional[str]]:
    """Returns the server's address, with the one given before all others, and the key that the environment has for it.

    Parley's variables and A2H's are never mixed, so that no key goes to a server that it is not for.
    """
    ours, key = url or os.environ.get("PARLEY_URL"), os.environ.get("PARLEY_KEY")
    if ours or key:
        return ours, key
    theirs = os.environ.get("A2H_BASE_URL", "").rstrip("/")
    for path in _A2H_PATHS:
        if theirs.endswith(path):
            theirs = theirs[: -len(path)]
    return theirs, os.environ.get("A2H_API_KEY")


def connect(
    url: Optional[str],
    *,
    key: Optional[str],
    agent_id: Optional[str],
    retries: int,
    timeout: float,
    receipt_keys: Optional[Mapping[str, Any]],
) -> Connection:
    """Returns what speaks to the server. Raises RuntimeError where receipts are to be verified, and cannot be."""
    if receipt_keys is not None and not can_verify():
        raise RuntimeError("Signatures are verified by the package `cryptography`: pip install parley-sdk[receipts].")
    address, known_key = _place(url)
    key = key if key is not None else known_key
    headers: dict[str, str] = {}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if agent_id:
        headers["X-Agent-Id"] = agent_id
    return Connection(
        address or "http://127.0.0.1:3415", headers, retries=retries, timeout=timeout, receipt_keys=receipt_keys
    )
