"""The values of a package's targeting as one searchable text.

`country:us` and so on, a line each: a word is found at the start of a value or of a word in it, and a value
whole, with its kind. A value that is excluded is found like one that is meant.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lib.deals.models import GEO_TYPES

VALUES = ("browser", "device", "operating_system")
KINDS = (*GEO_TYPES, *VALUES, "size", "media_type")


def text(package: Mapping[str, Any]) -> str:
    """The text of a package's fields."""
    return "".join(of_value(kind, value) for kind, value in _pairs(package))


def of_value(kind: str, value: str) -> str:
    """How the text has a value."""
    return f"\n{kind}:{value}\n".casefold()


def of_word(word: str) -> tuple[str, ...]:
    """How the text has a word: any of these is in it."""
    return tuple(f"{before}{word}".casefold() for before in (":", " "))


def _pairs(package: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for place in package["geo_targetings"]:
        yield place["type"], place["value"]
    for kind in VALUES:
        for one in package[f"{kind}_targetings"]:
            yield kind, one["value"]
    for size in package["size_targetings"]:
        yield "size", f"{size['width']}x{size['height']}"
    if package.get("media_type"):
        yield "media_type", package["media_type"]
