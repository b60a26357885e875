"""The question's filters as pills, one popover each, and one to add another."""

from collections.abc import Iterable
from functools import partial

import streamlit as st

from lib.reporting.models import AudienceQuery, Filter, Match
from lib.ui import filter_editor, filter_words, question, values
from lib.ui.frame import Here

ADD, FIELD, DRAFT = "filter_add", "filter_add_field", "filter_draft"


def draw(here: Here) -> None:
    """One pill per filter, then the ones to add another and to clear them all."""
    query = question.current(here)
    for place, wanted in enumerate(query.filters):
        _pill(here, query, place, wanted)
    _add(here, query)
    if query.filters:
        st.button(
            "Clear all",
            icon=":material/filter_alt_off:",
            type="tertiary",
            key="filters_clear",
            on_click=_ask,
            args=(query, ()),
        )


def include(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question with this value alone of the key field, which is no longer excluded either."""
    kept = [f for f in query.filters if not (f.name == name and f.match == "equals")]
    wanted = Filter(name=name, value=(value,), match="equals")
    return query.model_copy(update={"filters": (*_without(kept, name, value, "not equals"), wanted)})


def exclude(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question without this value of the key field; one filter holds all that are excluded."""
    kept = _without(query.filters, name, value, "equals")
    for place, found in enumerate(kept):
        if found.name == name and found.match == "not equals":
            more = found.model_copy(update={"value": tuple(dict.fromkeys((*found.value, value)))})
            return query.model_copy(update={"filters": (*kept[:place], more, *kept[place + 1 :])})
    wanted = Filter(name=name, value=(value,), match="not equals")
    return query.model_copy(update={"filters": (*kept, wanted)})


def _without(filters: Iterable[Filter], name: str, value: str, match: Match) -> list[Filter]:
    """The filters, those of this match on the key field without the value; what then has none goes."""
    kept = []
    for found in filters:
        if found.name == name and found.match == match and value in found.value:
            rest = tuple(other for other in found.value if other != value)
            found = found.model_copy(update={"value": rest})
        if found.value:
            kept.append(found)
    return kept


def _pill(here: Here, query: AudienceQuery, place: int, wanted: Filter) -> None:
    prefix = f"filter_{place}"
    described = values.words(here, query, wanted.name, wanted.value)
    label = filter_words.sentence(wanted, here.slicer, described)
    popover = st.popover(_plain(label), icon=":material/filter_alt:", key=prefix, on_change="rerun")
    if not popover.open:
        return
    with popover:
        st.markdown(f"**{_plain(filter_words.field(wanted.name, here.slicer))}**")
        filter_editor.fill(prefix, wanted)
        changed = partial(_change, query, place, prefix)
        filter_editor.draw(here, query, prefix, wanted.name, changed)
        st.button(
            "Remove", icon=":material/close:", key=f"{prefix}_remove", on_click=_remove, args=(query, place)
        )


def _add(here: Here, query: AudienceQuery) -> None:
    popover = st.popover("Filter", icon=":material/add:", key=ADD, on_change="rerun", type="tertiary")
    if not popover.open:
        return
    with popover:
        name = st.selectbox(
            "Key field",
            [field.name for field in here.slicer.key_fields],
            index=None,
            format_func=lambda name: filter_words.field(name, here.slicer),
            placeholder="What to filter by",
            key=FIELD,
            width=filter_editor.WIDTH,
            filter_mode="contains",
            on_change=_start,
        )
        if name is None:
            return
        filter_editor.draw(here, query, DRAFT, name, None)
        st.button(
            "Add filter",
            type="primary",
            key=f"{DRAFT}_done",
            on_click=_finish,
            args=(query, name),
        )


def _start() -> None:
    filter_editor.fill(DRAFT, Filter(name="", value=(), match="equals"))


def _finish(query: AudienceQuery, name: str) -> None:
    """Add the filter as drafted; without values it is still a draft."""
    drafted = filter_editor.read(DRAFT, name)
    if drafted.value:
        st.session_state[ADD], st.session_state[FIELD] = False, None
        _ask(query, (*query.filters, drafted))


def _change(query: AudienceQuery, place: int, prefix: str) -> None:
    """The filter as edited; without values it is left as it was until it has some."""
    edited = filter_editor.read(prefix, query.filters[place].name)
    if edited.value:
        _ask(query, (*query.filters[:place], edited, *query.filters[place + 1 :]))


def _remove(query: AudienceQuery, place: int) -> None:
    st.session_state[f"filter_{place}"] = False
    _ask(query, (*query.filters[:place], *query.filters[place + 1 :]))


def _ask(query: AudienceQuery, filters: tuple[Filter, ...]) -> None:
    question.ask(query.model_copy(update={"filters": filters}))
    st.rerun()


def _plain(text: str) -> str:
    """Text whose characters mean nothing to Markdown."""
    return "".join(f"\\{mark}" if mark in r"\`*_{}[]()#+-.!|~$:<>" else mark for mark in text)
