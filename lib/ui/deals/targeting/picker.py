"""The pickers of a targeting: a popover per kind, with the report's values, the most frequent first."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from lib.deals.models import Targeting
from lib.insight.kinds import KINDS, TargetingKind, key_field
from lib.reporting.models import AudienceQuery
from lib.ui.deals import counts
from lib.ui.deals.targeting import pending, targeting_text
from lib.ui.deals.targeting.pending import SIDES
from lib.ui.deals.targeting.targeting_text import value_label
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.query import filters, values

NARROWEST, WIDTH = 150, 340
NamedLists = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class PickerOffer:
    """The choices: the kinds of these fields of a package, lists by typed ids too, or nothing."""

    fields: frozenset[str] = frozenset(Targeting.model_fields)
    takes_ids: bool = False
    disabled: bool = False


WHOLE = PickerOffer()


def fill(prefix: str, targeting: Targeting) -> None:
    """Fill the pickers with this targeting."""
    for kind in KINDS:
        for is_excluded in SIDES:
            codes = [
                str(getattr(target, "id", None) or kind.value(target))
                for target in kind.of(targeting)
                if target.is_excluded == is_excluded
            ]
            st.session_state[pending.key(prefix, kind, is_excluded)] = codes


def read(prefix: str, lists: NamedLists) -> Targeting:
    """The targeting in the pickers; `lists` as in `draw`."""
    elements: dict[str, list[dict[str, object]]] = {}
    for kind in KINDS:
        for is_excluded in SIDES:
            for value in pending.settled_values((prefix, kind, is_excluded)):
                name = {"name": lists.get(kind.name, {}).get(value)} if kind.is_list else {}
                elements.setdefault(kind.field, []).append(kind.element(value, is_excluded) | name)
    return Targeting.model_validate(elements)


def draw(
    context: PageContext,
    query: AudienceQuery,
    prefix: str,
    lists: NamedLists,
    problems: FieldProblems | None = None,
    offer: PickerOffer = WHOLE,
) -> None:
    """Draw the pickers; their values are those of the days of `query`.

    `lists` names the domain and app lists: `{"domain_list": {"7": "Safe news"}, …}`.
    """
    targeting = read(prefix, lists)
    descriptions = targeting_text.describe(context, query, targeting)
    marks = targeting_text.marks(context, query, [targeting], with_gaps=True)
    with st.grid("auto", min_column_width=NARROWEST, gap="xsmall"):
        for kind in (kind for kind in KINDS if kind.field in offer.fields):
            names = {**descriptions.get(kind.name, {}), **lists.get(kind.name, {})}
            with st.container(gap="xxsmall"):
                _kind(context, query, prefix, kind, names, marks.get(kind.name, {}), offer)
    for kind_field in dict.fromkeys(kind.field for kind in KINDS):
        beside((problems or FieldProblems()).at(kind_field))


def _kind(
    context: PageContext,
    query: AudienceQuery,
    prefix: str,
    kind: TargetingKind,
    names: Mapping[str, str],
    marks: Mapping[str, str],
    offer: PickerOffer,
) -> None:
    """Draw a popover with a fixed label: with another label it would be another widget, and close."""
    popover = st.popover(
        plain(kind.title), key=f"{prefix}_{kind.name}", width="stretch", wrap=False, on_change="rerun",
        disabled=offer.disabled,
    )  # fmt: skip
    if sentence := _in_words(prefix, kind, names, marks):
        st.caption(plain(sentence))
    beside(pending.waiting(prefix, kind))
    if popover.open:
        with popover, report_errors("The values", effect="What you entered is kept."):
            options = names if kind.is_list else _options(context, query, prefix, kind)
            with st.container(key=f"{prefix}_{kind.name}_twins"):  # style.css: an open list covers no twin
                for is_excluded in SIDES:
                    with st.container():
                        _values(
                            context, query, (prefix, kind, is_excluded), {**names, **options}, marks, offer
                        )


def _options(
    context: PageContext, query: AudienceQuery, prefix: str, kind: TargetingKind
) -> Mapping[str, str]:
    """The report's values; those found by a search if there are too many to list."""
    field = key_field(kind, context.slicer)
    if field is None:
        st.caption(
            f"The slicer {plain(context.slicer_name)} has no values for it: what you type is not checked."
        )
        return {}
    options = values.value_options(context, query, field.name)
    if options.has_more:
        text = st.text_input(
            "Search", type="search", live=True, key=f"{prefix}_{kind.name}_search", width=WIDTH,
            placeholder=options.placeholder(counts.numbers()), label_visibility="collapsed",
        )  # fmt: skip
        options = values.value_options(context, query, field.name, text or "")
    return {code: description for code, description in options.descriptions.items() if code}


def _values(
    context: PageContext,
    query: AudienceQuery,
    place: pending.Place,
    options: Mapping[str, str],
    marks: Mapping[str, str],
    offer: PickerOffer,
) -> None:
    """Draw one side: the picker of known values, and the handling of other typed ones."""
    _, kind, is_excluded = place
    pending.settle(context, query, place)
    with st.container(gap="xxsmall"):  # above, as the picker's open list covers what is below
        pending.draw(context, query, place, options)
    st.multiselect(
        SIDES[is_excluded],
        list(dict.fromkeys([*pending.picker_values(place), *options])),
        format_func=partial(_value_label, place, options, marks),
        key=pending.key(*place),
        persist_state="session",
        filter_mode="contains",
        accept_new_options=offer.takes_ids or not kind.is_list,
        select_all=False,
        placeholder=_placeholder(kind, bool(options), offer),
        width=WIDTH,
        on_change=pending.take,
        args=(place, options),
    )


def _value_label(place: pending.Place, names: Mapping[str, str], marks: Mapping[str, str], value: str) -> str:
    """A value by description and code, marked where it is unknown; a list by its name.

    A pending one is named as it was typed: the browser sends names, and would type another one.
    """
    kind = place[1]
    if value in pending.picker_values(place) and value not in pending.settled_values(place):
        return value
    if kind.is_list:
        return _value_text(kind, names, value)
    name = filters.both(value, names.get(value))
    return f"{name} ({marks[value]})" if value in marks else name


def _value_text(kind: TargetingKind, names: Mapping[str, str], value: str) -> str:
    return names.get(value) or (f"list {value}" if kind.is_list else value)


def _placeholder(kind: TargetingKind, is_offered: bool, offer: PickerOffer) -> str:
    if kind.is_list and offer.takes_ids:
        return "Type the id of a list, press Enter"
    if kind.is_list:
        return "Choose lists" if is_offered else "There are no lists yet"
    return "Most frequent first; type to find" if is_offered else "Type and press Enter"


def _in_words(prefix: str, kind: TargetingKind, names: Mapping[str, str], marks: Mapping[str, str]) -> str:
    """The choice below the button: `US, CA · not MX`; empty without one."""
    sides = []
    for is_excluded in SIDES:
        codes = pending.settled_values((prefix, kind, is_excluded))
        labels = [value_label(value, {value: _value_text(kind, names, value)}, marks) for value in codes]
        if labels:
            sides.append(("not " if is_excluded else "") + ", ".join(labels))
    return " · ".join(sides)
