"""What people see beside the calls of a plan. None of it is fetched."""

from __future__ import annotations

from typing import Literal, Sequence, TypedDict, Union


class _Titled(TypedDict, total=False):
    title: str


class MarkdownEvidence(_Titled):
    kind: Literal["markdown"]
    text: str


class DiffEvidence(_Titled):
    kind: Literal["diff"]
    text: str


class TableEvidence(_Titled):
    kind: Literal["table"]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class _Digested(_Titled, total=False):
    digest: str
    """Of what stands at the address: `sha256:` and 64 digits."""


class LinkEvidence(_Digested):
    kind: Literal["link"]
    url: str


class ImageEvidence(_Titled):
    kind: Literal["image"]
    media_type: Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
    data: str
    """Base64 of at most 1 MiB."""


Evidence = Union[MarkdownEvidence, DiffEvidence, TableEvidence, LinkEvidence, ImageEvidence]
