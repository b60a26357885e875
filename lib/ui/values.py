"""The values of a key field, from the data: the most frequent first, found by code and description."""

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import API_ROWS_LIMIT, TIME_KEY_FIELDS, AudienceQuery, Filter, Order, Slicer
from lib.ui import ask
from lib.ui.frame import Here
from lib.wire.errors import TrancheError

OFFERED = 300
WORDS = "described_values"


@dataclass(frozen=True)
class Values:
    """Codes with their descriptions, in order; `found` is how many there are altogether."""

    described: dict[str, str]
    found: int


def offered(here: Here, query: AudienceQuery, name: str, text: str = "") -> Values:
    """A key field's values on the question's days, whatever its filters; with `text`, those that have it."""
    searched = Filter(name=name, value=(text,), match="contains", case_insensitive=1, search_mappings=1)
    answer = ask.audience(here, _question(here, query, name, (searched,) if text else ()))
    found = _described(here, answer, name)
    if text:
        kept = text.lower()
        found = {
            code: words for code, words in found.items() if kept in code.lower() or kept in words.lower()
        }
    return Values(found, answer.total.records_found)


def words(here: Here, query: AudienceQuery, name: str, codes: Iterable[str]) -> dict[str, str]:
    """The descriptions of these values, as far as the data of the question's days have them.

    Where the service fails there are none: codes will do, and the figures say that it failed.
    """
    known = _known(here, name)
    missing = tuple(code for code in codes if code not in known)
    if missing and here.slicer.key_field(name).mapping:
        exact = Filter(name=name, value=missing, match="equals")
        try:
            _described(here, ask.audience(here, _question(here, query, name, (exact,))), name)
        except TrancheError:
            return known
    for code in missing:
        known.setdefault(code, code)
    return known


def remember(here: Here, audience: Audience) -> None:
    """Keep the descriptions that an answer brings, so that filters on its values need not ask for them."""
    for name in map(str, audience.names):
        _described(here, audience, name)


def frequent(slicer: Slicer) -> str | None:
    """The data field by which values are frequent: the first that is no formula."""
    return next((field.name for field in slicer.data_fields if field.formula is None), None)


def _question(here: Here, query: AudienceQuery, name: str, filters: tuple[Filter, ...]) -> AudienceQuery:
    by = frequent(here.slicer)
    order = Order(name=name, direction="desc") if name in TIME_KEY_FIELDS or by is None else Order(name=by)
    return AudienceQuery(
        project_name=query.project_name,
        slicer_name=query.slicer_name,
        start_date=query.start_date,
        end_date=query.end_date,
        timezone=query.timezone,
        filters=filters,
        split_by=(name,),
        data_fields=None if by is None else (by,),
        order_by=(order,),
        limit=OFFERED,
        include_mappings=1,
        audience_rows_limit=API_ROWS_LIMIT,
    )


def _described(here: Here, answer: Audience, name: str) -> dict[str, str]:
    codes = answer.names[name].tolist()
    described = answer.descriptions
    texts = described[name].tolist() if described is not None and name in described else codes
    found = dict(zip(codes, texts, strict=True))
    _known(here, name).update(found)
    return found


def _known(here: Here, name: str) -> dict[str, str]:
    kept: dict[tuple[str, str, str], dict[str, str]] = st.session_state.setdefault(WORDS, {})
    return kept.setdefault((here.project, here.slicer_name, name), {})
