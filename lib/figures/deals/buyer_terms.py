"""What a buyer is told of a package and a deal."""

from collections.abc import Iterable
from typing import Any

from lib.deals import fields
from lib.deals.models import AppList, DomainList, PackageOrDeal, SupplyPackage
from lib.figures.context import RequestContext
from lib.figures.deals import deal_report, field_text, targeting_text
from lib.figures.deals.deal_names import ATTRIBUTES
from lib.figures.deals.list_kinds import KINDS
from lib.wire.text import count_of


def plain_values(entity: PackageOrDeal) -> tuple[tuple[str, Any], ...]:
    """The values of the plain fields that have no place of their own in text, CSV and page."""
    names = (field.name for field in fields.of(entity.entity) if field.name not in ATTRIBUTES)
    return tuple((name, getattr(entity, name, None)) for name in names)


def terms_of(more: Iterable[tuple[str, Any]], currency: str = "") -> dict[str, str]:
    """What is agreed beside price and fee, as far as it is set, by title; an amount's has the currency."""
    terms = {}
    for name, value in more:
        if value is not None:
            field = fields.BY_NAME[name]
            unit = f", {currency}" if currency and field.kind is fields.AMOUNT else ""
            terms[f"{field.title}{unit}"] = field_text.value(name, value)
    return terms


def package_terms(package: SupplyPackage, targeting: str = "") -> dict[str, str]:
    """The further fields of a package that are for buyers, by title, and its targeting in words."""
    terms = terms_of(plain_values(fields.redact(package, "buyer")))
    return {**terms, "Targeting": targeting} if targeting else terms


def describe_targeting(
    context: RequestContext, package: SupplyPackage, lists: Iterable[DomainList | AppList]
) -> str:
    """`United States · smartphone · not 1,200 domains`, all values of it.

    Names of lists are the house's own: a buyer reads how many entries a list has, where it is among `lists`.
    """
    labels = {}
    for entry_list in lists:
        kind = KINDS[entry_list.entity]
        count = count_of(len(kind.entries(entry_list)), kind.word.removesuffix("s"))
        labels[entry_list.entity, entry_list.id] = count
    nameless = {
        kind.targeting: tuple(
            element.model_copy(update={"name": labels.get((entity, element.id), f"a list of {kind.word}")})
            for element in getattr(package, kind.targeting)
        )
        for entity, kind in KINDS.items()
    }
    descriptions = targeting_text.describe(context, deal_report.usual_days(context), package)
    return targeting_text.sentence(package.model_copy(update=nameless), None, descriptions)
