"""The search of a list: entities that contain all of its words, themselves or in linked entities.

Packages and deals are found by each other's names, by seats and DSPs, by codes and contacts, by targeting;
not by deals that the caller can't see (the packages of a deal that is seen are seen too).
"""

from sqlalchemy import ColumnElement, Select, Table, or_, select

from lib.deals import sought
from lib.deals.queries import ListQuery
from lib.deals.store import tables as t
from lib.deals.store.noun import Noun
from lib.deals.store.work import Work
from lib.deals.values import LARGEST_ID

LINKS = t.supply_package_deals.c
BY_TARGETS = ("supply_deals", "demand_deals")
LISTS = ((t.supply_domain_lists, t.domain_lists), (t.supply_app_lists, t.app_lists))


def conditions(work: Work, noun: Noun, query: ListQuery) -> list[ColumnElement[bool]]:
    """A condition per word of the search, ignoring case; a number can also be an id."""
    return [_has(work, noun, word, query.meanings.get(word.casefold(), ())) for word in query.search.split()]


def _has(work: Work, noun: Noun, word: str, meanings: tuple[tuple[str, str], ...]) -> ColumnElement[bool]:
    found = [_within(noun, word)]
    if noun.entity == "supply_deals":
        deals = or_(_text(t.demand_deals, word), t.demand_deals.c.seat_id.in_(_seats(word)))
        seen = work.scope.seen(t.demand_deals)
        linked = LINKS.demand_deal_id.in_(select(t.demand_deals.c.id).where(deals, *seen))
        of_deals = t.supply_packages.c.id.in_(select(LINKS.supply_package_id).where(linked))
        found += [_targets(word, meanings), of_deals]
    elif noun.entity == "demand_deals":
        packages = or_(_text(t.supply_packages, word), _targets(word, meanings))
        linked = LINKS.supply_package_id.in_(select(t.supply_packages.c.id).where(packages))
        of_packages = t.demand_deals.c.id.in_(select(LINKS.demand_deal_id).where(linked))
        found += [t.demand_deals.c.seat_id.in_(_seats(word)), of_packages]
    return or_(*found)


def _within(noun: Noun, word: str) -> ColumnElement[bool]:
    """The condition on the entity's own names and codes, and its id if the word is a number."""
    text = _text(noun.table, word)
    if word.isascii() and word.isdigit() and len(word) < 17 and int(word) <= LARGEST_ID:
        return or_(text, noun.table.c.id == int(word))
    return text


def _text(table: Table, word: str) -> ColumnElement[bool]:
    return table.c.folded.contains(word.casefold(), autoescape=True)


def _seats(word: str) -> Select[tuple[int]]:
    """The seats with this word in their names or codes, or in those of their DSPs."""
    dsps = select(t.dsps.c.id).where(_text(t.dsps, word))
    return select(t.seats.c.id).where(or_(_text(t.seats, word), t.seats.c.dsp_id.in_(dsps)))


def _targets(word: str, meanings: tuple[tuple[str, str], ...]) -> ColumnElement[bool]:
    """Packages whose targeting has the word, a value that it means, or a list with it in its name."""
    parts = [*sought.of_word(word), *(sought.of_value(kind, value) for kind, value in meanings)]
    found = [t.supply_packages.c.targets.contains(part, autoescape=True) for part in parts]
    for links, lists in LISTS:
        named = select(lists.c.id).where(_text(lists, word))
        owners = select(links.c.supply_package_id).where(links.c.list_id.in_(named))
        found.append(t.supply_packages.c.id.in_(owners))
    return or_(*found)
