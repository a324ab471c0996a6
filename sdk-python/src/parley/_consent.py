"""What an approval is bound to: canonical JSON and its digest."""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal
from typing import Any, Mapping, Sequence, cast

_MOST_DEPTH = 64
"""How deep arguments may be nested; the server takes no more."""


def copy_of(value: Any, place: str = "args", depth: int = 0) -> Any:
    """Returns a copy of a value of JSON, which nobody else holds.

    Raises TypeError for what JSON cannot carry as it is, and so nobody could be shown: a date, a tuple, NaN, an object,
    half an emoji.
    """
    # What a subclass is beside the text or number that is shown would run, too.
    if value is None or _is(value, bool, int) or _is_text(value) or (_is(value, float) and math.isfinite(value)):
        return value
    if depth > _MOST_DEPTH:
        raise TypeError(f"{place} is nested more than {_MOST_DEPTH} deep.")
    if _is(value, list):
        items = cast("list[Any]", value)
        return [copy_of(item, f"{place}[{i}]", depth + 1) for i, item in enumerate(items)]
    if _is(value, dict) and all(_is(name, str) for name in value):
        members = cast("dict[str, Any]", value)
        for name in members:
            copy_of(name, f"{place}.{name!a}", depth + 1)
        return {name: copy_of(member, f"{place}.{name}", depth + 1) for name, member in members.items()}
    raise TypeError(f"{place} is nothing that JSON can carry as it is: nobody could be shown it.")


def check_texts(value: Any, place: str = "") -> None:
    """Raises TypeError that names the member with half an emoji, where a program cut a text: JSON cannot carry it."""
    if isinstance(value, str) and not _is_whole(value):
        raise TypeError(f"{place} is nothing that JSON can carry as it is: nobody could be shown it.")
    if isinstance(value, Mapping):
        for name, member in cast("Mapping[Any, Any]", value).items():
            at = f"{place}.{name}" if place else str(name)
            check_texts(str(name), ascii(at))
            check_texts(member, at)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(cast("Sequence[Any]", value)):
            check_texts(item, f"{place}[{i}]")


def _is_text(value: object) -> bool:
    return type(value) is str and _is_whole(value)


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


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
    return digest_of({"fn": fn, "kwargs": dict(args)})


def digest_of(value: Any) -> str:
    """Returns the digest of a value of JSON: the same for equal values."""
    return "sha256:" + hashlib.sha256(canonical(value).encode()).hexdigest()


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
