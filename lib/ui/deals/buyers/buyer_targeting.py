"""The targeting of a package as its buyer reads it: on the share page, in the text, the CSV and the mail."""

from collections.abc import Iterable

from lib.deals.models import AppList, DomainList, SupplyPackage
from lib.ui.deals import catalog
from lib.ui.deals.targeting import picker, words
from lib.ui.kit.frame import PageContext

LIST_FIELDS = (("domain_list_targetings", "domain_lists"), ("app_list_targetings", "app_lists"))
NOUNS = {"domain_lists": "domains", "app_lists": "apps"}


def in_words(context: PageContext, package: SupplyPackage, lists: Iterable[DomainList | AppList]) -> str:
    """`United States · smartphone · not 1,200 domains`, all values of it.

    Names of lists are the house's own: a buyer reads how many entries a list has, where it is among `lists`.
    """
    sizes = {
        (entry_list.entity, entry_list.id): len(
            entry_list.domains if isinstance(entry_list, DomainList) else entry_list.apps
        )
        for entry_list in lists
    }
    nameless = {
        field: tuple(
            element.model_copy(update={"name": _count_label(sizes.get((entity, element.id)), NOUNS[entity])})
            for element in getattr(package, field)
        )
        for field, entity in LIST_FIELDS
    }
    descriptions = picker.describe(context, catalog.usual_days(context), package)
    return words.sentence(package.model_copy(update=nameless), None, descriptions)


def _count_label(count: int | None, noun: str) -> str:
    if count is None:
        return f"a list of {noun}"
    return f"{count:,} {noun.removesuffix('s') if count == 1 else noun}"
