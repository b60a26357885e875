"""Parses the query parameters of a request, all errors at once; and the page of a list that answers them."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lib.deals.models import GEO_TYPES
from lib.deals.validation import Problems
from lib.deals.values import LARGEST_ID
from lib.wire.errors import suggestion

DEFAULT_LIMIT, LARGEST_LIMIT = 50, 500
PAGING = ("limit", "offset")
FINDING = ("search", "ordering", "meaning", "counts", "report", "etags", "delivery")
MEANING = re.compile(r"([^\s:]+):([a-z_]+):(.+)")
TERM = re.compile(r'"([^"]*)"?|([^\s"]+)')
CURLY = str.maketrans("“”„", '"""')
Parameters = Sequence[tuple[str, str]]
VALUES = ("browser", "device", "operating_system")
KINDS = (*GEO_TYPES, *VALUES, "size", "media_type")


@dataclass(frozen=True)
class ListPage:
    """A page of a list: the total count, the requested part, and its entities."""

    count: int
    limit: int
    offset: int
    results: list[dict[str, Any]]
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    delivery: dict[str, dict[str, Any]] | None = None


@dataclass(frozen=True)
class ListQuery:
    """The requested part of a list. `ordering` has pairs of (name, whether it descends).

    `meanings` are the values of targeting (kind, value) that a word of the search stands for, by the word in
    lower case; `counts` are the filters by whose values the list is counted. `report` (project, slicer) is
    what the health of deals is read from; empty names: what they say themselves. `has_etags`: with each one's
    ETag; `has_delivery`: with what each delivered.
    """

    limit: int = DEFAULT_LIMIT
    offset: int = 0
    search: str = ""
    ordering: tuple[tuple[str, bool], ...] = ()
    filters: dict[str, list[str]] = field(default_factory=dict)
    meanings: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    counts: tuple[str, ...] = ()
    report: tuple[str, str] = ("", "")
    has_etags: bool = False
    has_delivery: bool = False


@dataclass(frozen=True)
class ListOffer:
    """The supported filters, orderings, countable filters, and kinds of targeting of a list."""

    filters: Collection[str] = ()
    orderings: Collection[str] = ()
    countable: Collection[str] = ()
    kinds: Collection[str] = ()
    has_health: bool = False

    @property
    def parameters(self) -> list[str]:
        choices = {"search": self.orderings, "ordering": self.orderings, "meaning": self.kinds}
        choices |= {"etags": self.orderings}
        choices |= dict.fromkeys(("report", "delivery"), ["health"] if self.has_health else [])
        finding = [name for name, names in (choices | {"counts": self.countable}).items() if names]
        return [*PAGING, *finding, *self.filters]


PAGES = ListOffer()


def query(parameters: Parameters, problems: Problems, offer: ListOffer = PAGES) -> ListQuery:
    """The query, as far as it can be read; filters and meanings may come several times, the rest once."""
    values: dict[str, list[str]] = {}
    for name, text in parameters:
        if name not in offer.parameters:
            near = suggestion(name, offer.parameters)
            problems.add((name,), f"There is no such query parameter{near or '.'}")
        elif any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
            problems.add((name,), "This must not contain control characters.")
        else:
            values.setdefault(name, []).append(text)
    meanings = _meanings(values.pop("meaning", []), offer.kinds, problems)
    single = dict.fromkeys((*PAGING, *FINDING), "")
    for name in single:
        single[name], *others = values.pop(name, [""])
        if others:
            problems.add((name,), "This may be given once.")
    orders = _names(single["ordering"], "ordering", offer.orderings, "ordered", problems)
    project, slash, slicer = single["report"].partition("/")
    if single["report"] and not (project and slicer and slash):
        problems.add(("report",), "This must be project/slicer.")
    return ListQuery(
        limit=_number(single["limit"], "limit", (1, LARGEST_LIMIT, DEFAULT_LIMIT), problems),
        offset=_number(single["offset"], "offset", (0, LARGEST_ID, 0), problems),
        search=single["search"].strip(),
        ordering=tuple((name.removeprefix("-"), name.startswith("-")) for name in orders), filters=values,
        meanings=meanings,
        counts=tuple(dict.fromkeys(_names(single["counts"], "counts", offer.countable, "counted", problems))),
        report=(project, slicer), has_etags=flag(single["etags"], "etags", problems),
        has_delivery=flag(single["delivery"], "delivery", problems),
    )  # fmt: skip


def none(parameters: Parameters, problems: Problems) -> None:
    """Add a problem for every parameter, for endpoints without any."""
    for name, _ in parameters:
        problems.add((name,), "There is no such query parameter here.")


def _number(text: str, name: str, bounds: tuple[int, int, int], problems: Problems) -> int:
    least, most, usual = bounds
    if not text:
        return usual
    if text.isascii() and text.isdigit() and len(text) < 17 and least <= int(text) <= most:
        return int(text)
    problems.add((name,), f"This must be a whole number from {least} to {most}.")
    return usual


def flag(text: str, name: str, problems: Problems) -> bool:
    """Whether a parameter says true; not without it."""
    if text not in ("", "true", "false"):
        problems.add((name,), "This must be true or false.")
    return text == "true"


def _names(text: str, parameter: str, options: Collection[str], verb: str, problems: Problems) -> list[str]:
    """The names in a comma-separated parameter that a list can be `verb` by, each with its minus, if any."""
    names = []
    for part in filter(None, map(str.strip, text.split(","))):
        name = part.removeprefix("-") if parameter == "ordering" else part
        if name in options:
            names.append(part)
        else:
            near = suggestion(name, list(options))
            problems.add((parameter,), f"This list can't be {verb} by '{name}'{near or '.'}")
    return names


def _meanings(
    texts: Sequence[str], kinds: Collection[str], problems: Problems
) -> dict[str, tuple[tuple[str, str], ...]]:
    """`france:country:FR` → the word france stands for the country FR too."""
    meanings: dict[str, tuple[tuple[str, str], ...]] = {}
    for text in texts:
        read = MEANING.fullmatch(text)
        if read is None or read[2] not in kinds:
            problems.add(
                ("meaning",), f"This must be word:kind:value, where kind is one of {', '.join(kinds)}."
            )
        else:
            word = read[1].casefold()
            meanings[word] = (*meanings.get(word, ()), (read[2], read[3]))
    return meanings


def text(package: Mapping[str, Any]) -> str:
    """The text of a package's fields."""
    pairs = [(target["type"], target["value"]) for target in package["geo_targetings"]]
    pairs += [(kind, target["value"]) for kind in VALUES for target in package[f"{kind}_targetings"]]
    pairs += [("size", f"{size['width']}x{size['height']}") for size in package["size_targetings"]]
    if package.get("media_type"):
        pairs.append(("media_type", package["media_type"]))
    return "".join(of_value(kind, value) for kind, value in pairs)


def of_value(kind: str, value: str) -> str:
    """How the text has a value."""
    return f"\n{kind}:{value}\n".casefold()


def terms(search: str) -> list[str]:
    """The words of a search, and its phrases in quotes, in lower case: `spring "run of network"`."""
    parts = TERM.findall(search.casefold().translate(CURLY))
    return [term for phrase, word in parts if (term := word or " ".join(phrase.split()))]


def beginning(term: str) -> str:
    """The regular expression of a term at the beginning of a word, in Python as in PostgreSQL.

    What has no case (`@`, Chinese) is found anywhere: not every script has spaces between its words.
    """
    is_cased = term[0].isdigit() or term[0].upper() != term[0].lower()
    return rf"(^|\W|_){re.escape(term)}" if is_cased else re.escape(term)


def of_word(word: str) -> tuple[str, ...]:
    """How the text has a word: any of these is in it."""
    return tuple(f"{before}{word}".casefold() for before in (":", " "))
