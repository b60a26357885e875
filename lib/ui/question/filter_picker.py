"""The question's filters as pills, one popover each, and one to add another."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from lib.reporting.matches import Match
from lib.reporting.models import AudienceQuery, Filter
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import filter_editor, filter_words, question, values

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
            args=(here, lambda _: ()),
        )


def include(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question with this value alone of the key field, which is no longer excluded either."""
    kept = [f for f in query.filters if not (f.name == name and f.match == "equals")]
    wanted = Filter(name=name, value=(value,), match="equals")
    return query.model_copy(update={"filters": (*_without(kept, name, value, "not equals"), wanted)})


def add(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question with this value of the key field beside those kept, no longer excluded either."""
    kept = _without(query.filters, name, value, "not equals")
    for place, found in enumerate(kept):
        if found.name == name and found.match == "equals":
            more = found.model_copy(update={"value": tuple(dict.fromkeys((*found.value, value)))})
            return query.model_copy(update={"filters": (*kept[:place], more, *kept[place + 1 :])})
    wanted = Filter(name=name, value=(value,), match="equals")
    return query.model_copy(update={"filters": (*kept, wanted)})


def exclude(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question without this value of the key field; one filter holds all that are excluded."""
    kept = _without(query.filters, name, value, "equals")
    for place, found in enumerate(kept):
        if found.name == name and found.match == "not equals":
            more = found.model_copy(update={"value": tuple(dict.fromkeys((*found.value, value)))})
            return query.model_copy(update={"filters": (*kept[:place], more, *kept[place + 1 :])})
    wanted = Filter(name=name, value=(value,), match="not equals")
    return query.model_copy(update={"filters": (*kept, wanted)})


def release(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question that neither keeps nor leaves out this value of the key field."""
    kept = _without(query.filters, name, value, "equals")
    return query.model_copy(update={"filters": tuple(_without(kept, name, value, "not equals"))})


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
    popover = st.popover(plain(label), icon=":material/filter_alt:", key=prefix, on_change="rerun")
    if not popover.open:
        return
    with popover:
        st.markdown(f"**{plain(filter_words.field(wanted.name, here.slicer))}**")
        filter_editor.fill(prefix, wanted)
        changed = partial(_change, here, wanted, prefix)
        filter_editor.draw(here, query, prefix, wanted.name, changed)
        st.button(
            "Remove",
            icon=":material/close:",
            key=f"{prefix}_remove",
            on_click=_remove,
            args=(here, wanted, prefix),
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
            args=(here, name),
        )


def _start() -> None:
    filter_editor.fill(DRAFT, Filter(name="", value=(), match="equals"))


def _finish(here: Here, name: str) -> None:
    """Add the filter as drafted; without values it is still a draft."""
    drafted = filter_editor.read(DRAFT, name)
    if drafted.value:
        st.session_state[ADD], st.session_state[FIELD] = False, None
        _ask(here, lambda filters: (*filters, drafted))


def _change(here: Here, wanted: Filter, prefix: str) -> None:
    """The filter as edited; without values it is left as it was until it has some."""
    edited = filter_editor.read(prefix, wanted.name)
    if edited.value:
        _ask(here, lambda filters: tuple(edited if found == wanted else found for found in filters))


def _remove(here: Here, wanted: Filter, prefix: str) -> None:
    st.session_state[prefix] = False
    _ask(here, lambda filters: tuple(found for found in filters if found != wanted))


def _ask(here: Here, change: Callable[[tuple[Filter, ...]], tuple[Filter, ...]]) -> None:
    """Change the filters of the question as it is now: since a pill was drawn a row may have been clicked."""
    query = question.current(here)
    question.ask(query.model_copy(update={"filters": change(query.filters)}))
    st.rerun()
