"""The pickers of a targeting: a popover per kind, with the report's values, the most frequent first."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from lib.deals.models import Targeting
from lib.reporting.models import AudienceQuery
from lib.ui import filter_words, values
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.numbers import Numbers
from lib.ui.problems import told
from lib.ui.targeting.kinds import KINDS, Kind, key_field
from lib.ui.targeting.words import Described

NARROWEST, WIDTH = 150, 340
SIDES = {False: "Only", True: "Never"}
NamedLists = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Check:
    """The shape of what may be typed, and what is said of another."""

    shape: re.Pattern[str]
    says: str


CHECKS = {
    "size": Check(
        re.compile(r"[1-9]\d{0,4}x[1-9]\d{0,4}"), "A size is width x height in pixels, like 300x250"
    ),
    "list": Check(re.compile(r"[1-9]\d{0,15}"), "A list is named by its id, a number"),
}


@dataclass(frozen=True)
class Offer:
    """What can be picked: the kinds of these fields of a package, lists by typed ids too, or nothing."""

    fields: frozenset[str] = frozenset(Targeting.model_fields)
    takes_ids: bool = False
    disabled: bool = False


WHOLE = Offer()


def fill(prefix: str, targeting: Targeting) -> None:
    """Let the pickers show this targeting."""
    for kind in KINDS:
        for is_excluded in SIDES:
            chosen = [
                str(getattr(target, "id", None) or kind.value(target))
                for target in kind.of(targeting)
                if target.is_excluded == is_excluded
            ]
            st.session_state[_key(prefix, kind, is_excluded)] = chosen


def read(prefix: str, lists: NamedLists) -> Targeting:
    """The targeting that the pickers show; `lists` as `draw` takes them."""
    elements: dict[str, list[dict[str, object]]] = {}
    for kind in KINDS:
        for is_excluded in SIDES:
            for value in _chosen(prefix, kind, is_excluded):
                name = {"name": lists.get(kind.name, {}).get(value)} if kind.is_list else {}
                elements.setdefault(kind.field, []).append(kind.element(value, is_excluded) | name)
    return Targeting.model_validate(elements)


def described(here: Here, query: AudienceQuery, targeting: Targeting) -> Described:
    """Words for the values of a targeting, by kind, as far as the report has them."""
    found: dict[str, Mapping[str, str]] = {}
    for kind in KINDS:
        field, chosen = key_field(kind, here.slicer), [kind.value(target) for target in kind.of(targeting)]
        if field is not None and chosen and not kind.is_list:
            found[kind.name] = values.words(here, query, field.name, chosen)
    return found


def draw(
    here: Here,
    query: AudienceQuery,
    prefix: str,
    lists: NamedLists,
    problems: FieldProblems | None = None,
    offer: Offer = WHOLE,
) -> None:
    """Draw the pickers; their values are those of the days of `query`.

    `lists` names the domain and app lists: `{"domain_list": {"7": "Safe news"}, …}`.
    """
    words = described(here, query, read(prefix, lists))
    with st.grid("auto", min_column_width=NARROWEST, gap="xsmall"):
        for kind in (kind for kind in KINDS if kind.field in offer.fields):
            known = {**words.get(kind.name, {}), **lists.get(kind.name, {})}
            with st.container(gap="xxsmall"):
                _kind(here, query, prefix, kind, known, offer)
    for kind_field in dict.fromkeys(kind.field for kind in KINDS):
        beside((problems or FieldProblems()).at(kind_field))


def _kind(
    here: Here, query: AudienceQuery, prefix: str, kind: Kind, words: Mapping[str, str], offer: Offer
) -> None:
    """A button that stays the same, as a popover with another label is another one, and would be closed."""
    popover = st.popover(
        kind.title, key=f"{prefix}_{kind.name}", width="stretch", wrap=False, on_change="rerun",
        disabled=offer.disabled,
    )  # fmt: skip
    if chosen := _in_words(prefix, kind, words):
        st.caption(plain(chosen))
    if popover.open:
        with popover, told("The values", kept="What you entered is kept."):
            offered = words if kind.is_list else _offered(here, query, prefix, kind)
            for is_excluded in SIDES:
                _values(prefix, kind, is_excluded, {**words, **offered}, offer)


def _offered(here: Here, query: AudienceQuery, prefix: str, kind: Kind) -> Mapping[str, str]:
    """The report's values, those that a search finds where there are more than can be offered at once."""
    field = key_field(kind, here.slicer)
    if field is None:
        st.caption(f"The slicer {plain(here.slicer_name)} has no values for it: type them.")
        return {}
    found = values.offered(here, query, field.name)
    if found.has_more:
        text = st.text_input(
            "Search", type="search", live=True, key=f"{prefix}_{kind.name}_search", width=WIDTH,
            placeholder=found.searched(Numbers.of(st.context.locale)), label_visibility="collapsed",
        )  # fmt: skip
        found = values.offered(here, query, field.name, text or "")
    return {code: words for code, words in found.described.items() if code}


def _values(prefix: str, kind: Kind, is_excluded: bool, offered: Mapping[str, str], offer: Offer) -> None:
    key = _key(prefix, kind, is_excluded)
    check = CHECKS.get("list" if kind.is_list else kind.name)
    st.multiselect(
        SIDES[is_excluded],
        list(dict.fromkeys([*_chosen(prefix, kind, is_excluded), *offered])),
        format_func=partial(_named, kind, offered),
        key=key,
        persist_state="session",
        filter_mode="contains",
        accept_new_options=offer.takes_ids or not kind.is_list,
        select_all=False,
        placeholder=_placeholder(kind, bool(offered), offer),
        width=WIDTH,
        on_change="rerun" if check is None else _drop_odd,
        args=None if check is None else (key, check),
    )


def _named(kind: Kind, words: Mapping[str, str], value: str) -> str:
    """A value by description and code; a list by its name."""
    return _worded(kind, words, value) if kind.is_list else filter_words.both(value, words.get(value))


def _worded(kind: Kind, words: Mapping[str, str], value: str) -> str:
    return words.get(value) or (f"list {value}" if kind.is_list else value)


def _placeholder(kind: Kind, is_offered: bool, offer: Offer) -> str:
    if kind.is_list and offer.takes_ids:
        return "Type the id of a list, press Enter"
    if kind.is_list:
        return "Choose lists" if is_offered else "There are no lists yet"
    return "Most frequent first; type to find" if is_offered else "Type and press Enter"


def _in_words(prefix: str, kind: Kind, words: Mapping[str, str]) -> str:
    """What is chosen, under the button: `US, CA · not MX`; empty where nothing is."""
    sides = []
    for is_excluded in SIDES:
        names = [_worded(kind, words, value) for value in _chosen(prefix, kind, is_excluded)]
        if names:
            sides.append(("not " if is_excluded else "") + ", ".join(names))
    return " · ".join(sides)


def _drop_odd(key: str, check: Check) -> None:
    """What was typed has to be of this kind's shape."""
    typed: list[str] = st.session_state[key]
    fitting = [value.lower() for value in typed if check.shape.fullmatch(value.lower())]
    if len(fitting) < len(typed):
        st.toast(check.says, icon=":material/error:")
    st.session_state[key] = fitting


def _chosen(prefix: str, kind: Kind, is_excluded: bool) -> list[str]:
    chosen: list[str] = st.session_state.get(_key(prefix, kind, is_excluded), [])
    return chosen


def _key(prefix: str, kind: Kind, is_excluded: bool) -> str:
    return f"{prefix}_{kind.name}_{'never' if is_excluded else 'only'}"
