"""The query parameters of a request: read, and everything that is wrong with them said at once."""

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from lib.deals.fields import LARGEST_ID
from lib.deals.validation import Problems
from lib.wire.errors import suggestion

DEFAULT_LIMIT, LARGEST_LIMIT = 50, 500
PAGING = ("limit", "offset")
FINDING = ("search", "ordering")
Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Query:
    """Which part of a list is asked for. `ordering` is of (name, whether it descends)."""

    limit: int = DEFAULT_LIMIT
    offset: int = 0
    search: str = ""
    ordering: tuple[tuple[str, bool], ...] = ()
    filters: dict[str, list[str]] = field(default_factory=dict)


def query(
    parameters: Parameters, problems: Problems, filters: Collection[str], orderings: Collection[str]
) -> Query:
    """The query, as far as it can be read; a filter may come several times, anything else once."""
    known = [*PAGING, *(FINDING if orderings else ()), *filters]
    given: dict[str, list[str]] = {}
    for name, text in parameters:
        if name not in known:
            problems.add((name,), f"There is no such query parameter{suggestion(name, known) or '.'}")
        elif any(unicodedata.category(one) in ("Cc", "Cs") for one in text):
            problems.add((name,), "This may not have control characters in it.")
        else:
            given.setdefault(name, []).append(text)
    single = {name: _single(given.pop(name, []), name, problems) for name in (*PAGING, *FINDING)}
    return Query(
        limit=_number(single["limit"], "limit", (1, LARGEST_LIMIT, DEFAULT_LIMIT), problems),
        offset=_number(single["offset"], "offset", (0, LARGEST_ID, 0), problems),
        search=single["search"].strip(),
        ordering=_ordering(single["ordering"], orderings, problems),
        filters=given,
    )


def none(parameters: Parameters, problems: Problems) -> None:
    """Add a problem for every parameter: here there are none."""
    for name, _ in parameters:
        problems.add((name,), "There is no such query parameter here.")


def _single(texts: list[str], name: str, problems: Problems) -> str:
    if len(texts) > 1:
        problems.add((name,), "This may be given once.")
    return texts[0] if texts else ""


def _number(text: str, name: str, bounds: tuple[int, int, int], problems: Problems) -> int:
    least, most, usual = bounds
    if not text:
        return usual
    if text.isascii() and text.isdigit() and len(text) < 17 and least <= int(text) <= most:
        return int(text)
    problems.add((name,), f"This must be a whole number from {least} to {most}.")
    return usual


def _ordering(text: str, orderings: Collection[str], problems: Problems) -> tuple[tuple[str, bool], ...]:
    """`-price,name` → by price, falling, then by name."""
    found = []
    for part in (part.strip() for part in text.split(",") if part.strip()):
        name = part.removeprefix("-")
        if name in orderings:
            found.append((name, part.startswith("-")))
        else:
            near = suggestion(name, list(orderings))
            problems.add(("ordering",), f"This list can't be ordered by '{name}'{near or '.'}")
    return tuple(found)
