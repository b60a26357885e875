"""The entries of domain and app lists: the kinds of lists, and entries that are pasted."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from lib.deals.models import AppList, DomainList

DOMAIN = re.compile(r"([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}")
SEPARATORS = re.compile(r"[,;\t]")
LONGEST_APP, LONGEST_DOMAIN = 200, 253


def domain(text: str) -> str:
    """`https://Example.org/news` → `example.org`; ValueError says what is wrong."""
    host = (urlsplit(text if "//" in text else f"//{text}").hostname or "").rstrip(".")
    try:
        name = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        raise ValueError("Not a domain name") from None
    if "." not in name:
        raise ValueError("Not a domain name: it has no dot")
    if len(name) > LONGEST_DOMAIN or not DOMAIN.fullmatch(name):
        raise ValueError("Not a domain name")
    if name.rpartition(".")[2].isdigit():
        raise ValueError("An IP address, not a domain name")
    return name


def app(text: str) -> str:
    """A bundle or a store's number as it is; ValueError says what is wrong."""
    if any(one.isspace() for one in text):
        raise ValueError("An app id has no spaces")
    if not text.isprintable() or len(text) > LONGEST_APP:
        raise ValueError("Not an app id")
    return text


@dataclass(frozen=True)
class ListKind:
    """A kind of list: its title, its model, the field of its entries, which is their word too, how one of
    them is written, and the field of a package that targets lists of this kind."""

    title: str
    model: type[DomainList] | type[AppList]
    word: str
    normalise: Callable[[str], str]
    targeting: str

    def entries(self, one: DomainList | AppList) -> tuple[str, ...]:
        """The domains or apps of a list."""
        texts: tuple[str, ...] = getattr(one, self.word)
        return texts


KINDS = {
    "domain_lists": ListKind("Domain lists", DomainList, "domains", domain, "domain_list_targetings"),
    "app_lists": ListKind("App lists", AppList, "apps", app, "app_list_targetings"),
}


@dataclass(frozen=True)
class Broken:
    """An entry that can't be read: its line (from 1), as it was pasted, and why."""

    line: int
    text: str
    why: str


@dataclass(frozen=True)
class Pasted:
    """Parsed entries in order without repeats, those that can't be read, and the number of repeats."""

    entries: tuple[str, ...]
    broken: tuple[Broken, ...]
    repeated: int

    def new(self, present: Iterable[str]) -> list[str]:
        """The entries that are not known yet."""
        there = set(present)
        return [one for one in self.entries if one not in there]

    @property
    def left(self) -> str:
        """The entries that can't be read, a line each, to be corrected."""
        return "\n".join(one.text for one in self.broken)


def read(text: str, kind: ListKind) -> Pasted:
    """One entry a line, or several with commas, semicolons or tabs between; empty lines count as lines."""
    unique: dict[str, None] = {}
    broken: list[Broken] = []
    repeated = 0
    for line_number, line in enumerate(text.splitlines(), start=1):
        for part in filter(None, (part.strip().strip("\"'").strip() for part in SEPARATORS.split(line))):
            try:
                entry = kind.normalise(part)
            except ValueError as error:
                broken.append(Broken(line_number, part, str(error)))
                continue
            repeated += entry in unique
            unique[entry] = None
    return Pasted(tuple(unique), tuple(broken), repeated)
