"""Where the server is, and what it knows its client by."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from typing import Any, Mapping, Optional, Sequence
from urllib.parse import urlsplit

from ._http import Connection
from ._receipts import can_verify

_A2H_PATHS = ("/a2h/v1alpha1", "/humanlayer/v1")
"""Where those addresses of A2H begin that stand below a server's own."""


_LOCAL_URL = "http://127.0.0.1:3415"
"""Where the server is when nothing says so, and so whom a key in the environment without an address is for."""

_USUAL_PORTS = {"http": 80, "https": 443}


def _known_place() -> tuple[str, Optional[str]]:
    """Returns where the environment says that the server is, and the key that it has for it.

    Parley's variables and A2H's are never mixed, so that no key goes to a server that it is not for.
    """
    ours, key = os.environ.get("PARLEY_URL"), os.environ.get("PARLEY_KEY")
    if ours or key:
        return ours or _LOCAL_URL, key
    theirs = os.environ.get("A2H_BASE_URL", "").rstrip("/")
    for path in _A2H_PATHS:
        if theirs.endswith(path):
            theirs = theirs[: -len(path)]
    return theirs or _LOCAL_URL, os.environ.get("A2H_API_KEY")


def _is_same_address(one: str, other: str) -> bool:
    try:
        return _parts(one) == _parts(other)
    except ValueError:
        return False


def is_here(url: str) -> bool:
    """True for a server on this very computer, in whatever way its address is written."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        try:
            # As systems read them: 127.1, 0x7f000001, 2130706433.
            address = ipaddress.ip_address(socket.inet_aton(host))
        except (OSError, ValueError):
            return False
    known = getattr(address, "ipv4_mapped", None) or address
    return known.is_loopback or known.is_unspecified


def _parts(url: str) -> tuple[object, ...]:
    parts = urlsplit(url)
    port = parts.port or _USUAL_PORTS.get(parts.scheme)
    return parts.scheme, parts.username, parts.hostname, port, parts.path.rstrip("/"), parts.query


def connect(
    url: Optional[str],
    *,
    key: Optional[str],
    agent_id: Optional[str],
    retries: int,
    timeout: float,
    receipt_keys: Optional[Mapping[str, Any]],
    receipt_agent: Optional[str],
) -> Connection:
    """Returns what speaks to the server. Raises RuntimeError where receipts are to be verified, and cannot be."""
    if receipt_keys is not None and not can_verify():
        raise RuntimeError("Signatures are verified by the package `cryptography`: pip install parley-sdk[receipts].")
    known_url, known_key = _known_place()
    address = url or known_url
    # A server that only a program names gets no key that nobody gave for it.
    if key is None and _is_same_address(address, known_url):
        key = known_key
    headers: dict[str, str] = {}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if agent_id:
        headers["X-Agent-Id"] = agent_id
    agents = [receipt_agent] if receipt_agent else _agents(address, key, agent_id or "")
    return Connection(address, headers, retries=retries, timeout=timeout, receipt_keys=receipt_keys, agents=agents)


def _agents(url: str, key: Optional[str], name: str) -> Sequence[str]:
    """Returns whom receipts may name as who asked; `agent:` alone is the holder of any key.

    The key may also stand behind the name, or in the address (spec/security 3).
    """
    if key or re.search(r"(^|:)parley_", name) or re.search(r"/k/[^/]+/*$", url):
        return ["agent:"]
    # A program without a key cannot bear the name of a key.
    return [f"open:{name}", "open:default"]
