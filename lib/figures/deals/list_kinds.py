"""The kinds of lists of domains and apps."""

from collections.abc import Callable
from dataclasses import dataclass

from lib.deals.models import AppList, DomainList
from lib.deals.supply.formats import app, domain


@dataclass(frozen=True)
class ListKind:
    """A kind of list: its title, its model, the field of its entries, which is their word too, how one of
    them is written, and the field of a package that targets lists of this kind."""

    title: str
    model: type[DomainList] | type[AppList]
    word: str
    normalize: Callable[[str], str]
    targeting: str

    def entries(self, entry_list: DomainList | AppList) -> tuple[str, ...]:
        texts: tuple[str, ...] = getattr(entry_list, self.word)
        return texts


KINDS = {
    "domain_lists": ListKind("Domain lists", DomainList, "domains", domain, "domain_list_targetings"),
    "app_lists": ListKind("App lists", AppList, "apps", app, "app_list_targetings"),
}
