"""The form of one filter on a key field, of any match, and of a group of filters of which any holds."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import streamlit as st

from lib.figures.query import filters, values
from lib.reporting.models import MOST_ALTERNATIVES, MOST_GROUPS, AudienceQuery
from lib.ui.kit import widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import history
from lib.wire.errors import TrancheError
from lib.wire.filters import MATCHES, RULES, Filter

FIELD, MATCH, VALUES, ANY_CASE, DESCRIPTIONS = "field", "match", "values", "any_case", "descriptions"
WIDTH = 380
ANY_OF = "Any of several filters"
Group = tuple[Filter, ...]


def is_offered(context: PageContext, query: AudienceQuery) -> bool:
    """Whether the question may have one more group."""
    return context.slicer.knows("any_of") and len(query.any_of) < MOST_GROUPS


def pill_key(index: int) -> str:
    """The key of the popover of the question's group at that place."""
    return f"filter_any_{index}"


def sentence(context: PageContext, query: AudienceQuery, group: Group) -> str:
    """The group in words, with the descriptions of its values."""
    descriptions = {filter_.name: _descriptions(context, query, filter_) for filter_ in group}
    return filters.group_sentence(group, context.slicer, descriptions)


def draw_group(context: PageContext, query: AudienceQuery, index: int) -> None:
    """Draw the filters of a group, each with a button that removes it, and the form for one more."""
    group, key = query.any_of[index], pill_key(index)
    with st.container(width=WIDTH):
        for number, filter_ in enumerate(group):
            with st.container(horizontal=True, vertical_alignment="center"):
                descriptions = _descriptions(context, query, filter_)
                text = filters.sentence(filter_, context.slicer, descriptions, most=len(filter_.value))
                st.markdown(f"{'or ' if number else ''}{plain(text)}", width="stretch")
                remove = partial(_change, context, group, (*group[:number], *group[number + 1 :]))
                help = plain(f"Remove “{text}”")
                widgets.icon_button("Remove", "close", f"{key}_remove_{number}", remove, help)
        if len(group) < MOST_ALTERNATIVES:
            draw_alternative(context, query, key, partial(_add, context, group), "Or")


def draw_new_group(context: PageContext, query: AudienceQuery, key: str) -> None:
    """Draw the form for the first filter of a new group; its pill then opens, for the others."""
    with st.container(width=WIDTH):
        st.caption("Rows for which any of these filters holds. Add the first, then the others.")
        draw_alternative(context, query, f"{key}_any", partial(_begin, context, key), "Add filter")


def draw_alternative(
    context: PageContext, query: AudienceQuery, key: str, add: Callable[[Filter], None], label: str
) -> None:
    """Draw the form for a filter of a group."""
    labels = {field.name: filters.field(field.name, context.slicer) for field in context.slicer.key_fields}
    draw_filter_form(key, labels, partial(frequent_values, context, query), add, label)


def draw_or(context: PageContext, query: AudienceQuery, key: str, own_filters: Iterable[Filter]) -> None:
    """Draw the button that makes a group of one filter, in the popover of its pill."""
    single = tuple(own_filters)
    if len(single) == 1 and is_offered(context, query):
        help = "Keep rows for which this filter or another one holds"
        widgets.icon_button("Or…", "call_split", f"{key}_or", partial(_join, context, key, single[0]), help)


def _descriptions(context: PageContext, query: AudienceQuery, filter_: Filter) -> dict[str, str]:
    return values.descriptions(context, query, filter_.name, filter_.value)


def _begin(context: PageContext, key: str, filter_: Filter) -> None:
    """Begin a group with this filter, close the popover `key`, and open that of the group."""
    _open_next(context, key)
    query = history.current(context).query
    history.change(history.current(context).with_query(any_of=(*query.any_of, (filter_,))))


def _join(context: PageContext, key: str, filter_: Filter) -> None:
    """Move a filter into a group of its own, in one step. A callback."""
    _open_next(context, key)
    query = history.current(context).query
    others = tuple(other for other in query.filters if other != filter_)
    history.change(history.current(context).with_query(filters=others, any_of=(*query.any_of, (filter_,))))


def _open_next(context: PageContext, key: str) -> None:
    """Close the popover `key`, and open that of the group which comes next, under a new label."""
    group_key = pill_key(len(history.current(context).query.any_of))
    st.session_state[key], st.session_state[group_key] = False, True
    st.session_state.pop(f"{group_key}_label", None)


def _add(context: PageContext, group: Group, filter_: Filter) -> None:
    _change(context, group, tuple(dict.fromkeys((*group, filter_))))


def _change(context: PageContext, group: Group, new_group: Group) -> None:
    """Put the new group in the place of the other; an empty one is dropped. A callback."""
    page_state = history.current(context)
    groups = (new_group if other == group else other for other in page_state.query.any_of)
    history.change(page_state.with_query(any_of=tuple(filter(None, groups))))


def draw_filter_form(
    prefix: str,
    fields: Mapping[str, str],
    values_of: Callable[[str], Mapping[str, str]],
    add: Callable[[Filter], None],
    label: str = "Add filter",
) -> None:
    """Draw the form for a filter on one of these key `fields`, each with its label.

    `values_of` gives the values of a field that are offered, with their descriptions; others can be typed.
    `add` is called with the filter by the button `label`. `prefix` makes the keys of the widgets unique.
    """
    with st.container(horizontal=True):
        name = st.selectbox(
            "Key field", fields, format_func=fields.__getitem__, key=f"{prefix}_{FIELD}", width=200,
            filter_mode="contains",
        )  # fmt: skip
        st.selectbox(
            "Match", MATCHES, format_func=lambda match: RULES[match].words, key=f"{prefix}_{MATCH}", width=160
        )
    labels = values_of(name)
    st.multiselect(
        "Values", list(labels), format_func=lambda code: filters.both(code, labels.get(code)),
        key=f"{prefix}_{VALUES}", accept_new_options=True, placeholder="Choose or type values",
    )  # fmt: skip
    with st.container(horizontal=True):
        st.checkbox("In any case", key=f"{prefix}_{ANY_CASE}")
        st.checkbox("Search descriptions too", key=f"{prefix}_{DESCRIPTIONS}")
    st.button(label, icon=":material/add:", key=f"{prefix}_add", on_click=_hand_over, args=(prefix, add))


def frequent_values(context: PageContext, query: AudienceQuery | None, name: str) -> dict[str, str]:
    """The most frequent values on the days of `query`; none without one, and where the service fails."""
    try:
        return {} if query is None else values.value_options(context, query, name).descriptions
    except TrancheError:
        return {}


def _hand_over(prefix: str, add: Callable[[Filter], None]) -> None:
    """Hand over the filter of the form, and clear its values; without values it stays. A callback."""
    form = {name: st.session_state[f"{prefix}_{name}"] for name in (FIELD, MATCH, VALUES)}
    flags = [int(st.session_state[f"{prefix}_{name}"]) for name in (ANY_CASE, DESCRIPTIONS)]
    if form[VALUES]:
        st.session_state[f"{prefix}_{VALUES}"] = []
        add(
            Filter(
                name=form[FIELD],
                match=form[MATCH],
                value=tuple(form[VALUES]),
                case_insensitive=flags[0],
                search_mappings=flags[1],
            )
        )
