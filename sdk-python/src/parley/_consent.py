"""What an approval is bound to: canonical JSON and its digest."""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal
from typing import Any, Mapping, cast

_MOST_DEPTH = 64
"""How deep arguments may be nested; the server takes no more."""


def copy_of(value: Any, place: str = "args", depth: int = 0) -> Any:
    """Returns a copy of a value of JSON, which nobody else holds.

    Raises TypeError for what JSON cannot carry as it is, and so nobody could be shown: a date, a tuple, NaN, an object.
    """
    # What a subclass is beside the text or number that is shown would run, too.
    if value is None or _is(value, str, bool, int) or (_is(value, float) and math.isfinite(value)):
        return value
    if depth > _MOST_DEPTH:
        raise TypeError(f"{place} is nested more than {_MOST_DEPTH} deep.")
    if _is(value, list):
        items = cast("list[Any]", value)
        return [copy_of(item, f"{place}[{i}]", depth + 1) for i, item in enumerate(items)]
    if _is(value, dict) and all(_is(name, str) for name in value):
        members = cast("dict[str, Any]", value)
        return {name: copy_of(member, f"{place}.{name}", depth + 1) for name, member in members.items()}
    raise TypeError(f"{place} is nothing that JSON can carry as it is: nobody could be shown it.")


def _is(value: object, *kinds: object) -> bool:
    """True for one of these kinds exactly."""
    return type(value) in kinds


def canonical(value: Any) -> str:
    """Returns the RFC 8785 form of a value of JSON; integers of any size keep their digits, as on the server."""
    if isinstance(value, dict):
        members = cast("Mapping[str, Any]", value)
        # RFC 8785 orders names by UTF-16 code units.
        names = sorted(members, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(name)}:{canonical(members[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in cast("list[Any]", value)) + "]"
    if isinstance(value, float):
        return _number(value)
    return _text(value)


def consent_digest(fn: str, args: Mapping[str, Any]) -> str:
    """Returns the digest that an approval of exactly this call is bound to."""
    text = canonical({"fn": fn, "kwargs": dict(args)})
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """Returns a number as ECMAScript writes it: 30 for 30.0, 1e-7 for 1e-07."""
    if value == 0:
        return "0"
    # `repr` has the fewest digits that are this number, as ECMAScript wants them.
    _, digit_tuple, exponent = Decimal(repr(abs(value))).as_tuple()
    every = "".join(map(str, digit_tuple))
    digits = every.rstrip("0")
    point = len(every) + int(exponent)
    if len(digits) <= point <= 21:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{fraction}e{point - 1:+d}"
    return f"-{text}" if value < 0 else text
