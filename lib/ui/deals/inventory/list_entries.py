"""The entries of domain and app lists: the kinds of lists, and entries that are pasted."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lib.deals.models import AppList, DomainList
from lib.deals.supply.names import app, domain

SEPARATORS = re.compile(r"[,;\t]")


@dataclass(frozen=True)
class ListKind:
    """A kind of list: its title, its model, the field of its entries, which is their word too, how one of
    them is written, and the field of a package that targets lists of this kind."""

    title: str
    model: type[DomainList] | type[AppList]
    word: str
    normalize: Callable[[str], str]
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
class BrokenEntry:
    """An entry that can't be read: its line (from 1), as it was pasted, and why."""

    line: int
    text: str
    why: str


@dataclass(frozen=True)
class Paste:
    """Parsed entries in order without repeats, those that can't be read, and the number of repeats."""

    entries: tuple[str, ...]
    broken: tuple[BrokenEntry, ...]
    repeats: int

    def new(self, present: Iterable[str]) -> list[str]:
        """The entries that are not known yet."""
        existing = set(present)
        return [one for one in self.entries if one not in existing]

    @property
    def rest(self) -> str:
        """The entries that can't be read, a line each, to be corrected."""
        return "\n".join(one.text for one in self.broken)


def read(text: str, kind: ListKind) -> Paste:
    """One entry a line, or several with commas, semicolons or tabs between; empty lines count as lines."""
    unique: dict[str, None] = {}
    broken: list[BrokenEntry] = []
    repeats = 0
    for line_number, line in enumerate(text.splitlines(), start=1):
        for part in filter(None, (part.strip().strip("\"'").strip() for part in SEPARATORS.split(line))):
            try:
                entry = kind.normalize(part)
            except ValueError as error:
                broken.append(BrokenEntry(line_number, part, str(error)))
                continue
            repeats += entry in unique
            unique[entry] = None
    return Paste(tuple(unique), tuple(broken), repeats)
