"""The question: dates, comparison, words, undo and redo, and the link to it; below these its filters."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from lib.figures.numbers import Numbers, title
from lib.figures.query import filters, state, values
from lib.reporting.models import MOST_ALTERNATIVES, MOST_GROUPS, AudienceQuery, DataFilter
from lib.ui.kit import reader, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import (
    data_filter_form,
    dates_picker,
    filter_editor,
    filter_pills,
    history,
    page_clicks,
    saved,
    share,
    wording_field,
)
from lib.ui.query.filter_editor import FilterTarget
from lib.ui.query.share import Send

ADD, DRAFT = "filter_add", "filter_add_figure"
PILLS, OPENING = "filter_pills", "filter_group_to_open"
FIGURE = "\x1f"  # before the name of a data field among those of key fields, which can't have it
ANY_OF = "Any of several filters"
BAR, MORE, MORE_PART, MORE_WIDTH = "question_bar", "question_menu", "question_menu_part", 440
MenuPart = Callable[[PageContext], None]
"""Draws a part of the menu More, while it is the one in sight."""


def draw_filter_picker(context: PageContext) -> None:
    """Draw the button to add a filter (at a fixed place), the pills, and the button that clears them all."""
    if (opening := st.session_state.pop(OPENING, None)) is not None:
        # A filter has become a group, or begun one: its pill is open, for the others.
        closing, group_key = opening
        st.session_state[closing], st.session_state[group_key] = False, True
        st.session_state.pop(f"{group_key}_label", None)
    page_state, target = history.current(context), FilterTarget.of_page(context)
    query = page_state.query
    _draw_addition(target)
    # A container whose children flow with the button before it (style.css): lines of pills begin below it.
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=PILLS):
        filter_pills.draw_pills(target, "filter", _draw_or)
        for index, group in enumerate(query.any_of):
            label = filters.group_sentence(group, context.slicer, values.of_filters(context, query, group))
            with filter_pills.popover(_group_key(index), label) as pill:
                if pill.open:
                    with st.container(width=filter_editor.WIDTH):
                        filter_pills.draw_alternatives(_group(context, index), _group_key(index))
        for index, filter_ in enumerate(page_state.view.data_filters):
            key, numbers = f"figure_filter_{index}", Numbers.of(reader.locale())
            with filter_pills.popover(key, filters.figure_sentence(filter_, context.slicer, numbers)) as pill:
                if pill.open:
                    change = partial(_put_data_filter, context, key, filter_.name, filter_)
                    data_filter_form.draw(key, filter_, change)
                    filter_editor.draw_removal(key, partial(_remove_data_filter, context, key, filter_))
        if query.filters or query.any_of or page_state.view.data_filters:
            act = partial(_clear, context)
            widgets.icon_button("Clear all", "filter_alt_off", "filters_clear", act, help="Clear all filters")


def _group(context: PageContext, index: int, key: str = "") -> FilterTarget:
    """The filters of a group, of which any holds; of a new one where there is none of that index.

    A new one closes the popover `key` once it has a filter, and opens that of its pill.
    """

    def read() -> AudienceQuery:
        query = history.current(context).query
        (group,) = query.any_of[index : index + 1] or ((),)
        return query.model_copy(update={"filters": group, "any_of": ()})

    def write(query: AudienceQuery) -> None:
        groups = list(history.current(context).query.any_of)
        if index == len(groups):
            st.session_state[OPENING] = key, _group_key(index)
        groups[index : index + 1] = [query.filters[:MOST_ALTERNATIVES]]
        history.change(history.current(context).with_query(any_of=tuple(filter(None, groups))))

    query = history.current(context).query
    others = query.model_copy(update={"any_of": (*query.any_of[:index], *query.any_of[index + 1 :])})
    return FilterTarget(context, read, write, others)


def _group_key(index: int) -> str:
    return f"filter_any_{index}"


def _draw_or(target: FilterTarget, key: str) -> None:
    """Draw the button that makes a group of one filter, in the popover of its pill."""
    if not _is_group_offered(target):
        return

    def join() -> None:
        """Move the filter into a group of its own, in one step."""
        query = target.read()
        if own := dict(filter_pills.pills(query, "filter")).get(key):
            st.session_state[OPENING] = key, _group_key(len(query.any_of))
            others = tuple(filter_ for filter_ in query.filters if filter_ not in own)
            target.write(query.model_copy(update={"filters": others, "any_of": (*query.any_of, own)}))

    help = "Keep rows for which this filter or another one holds"
    widgets.icon_button("Or…", "call_split", f"{key}_or", join, help)


def _is_group_offered(target: FilterTarget) -> bool:
    return target.context.slicer.knows("any_of") and len(target.read().any_of) < MOST_GROUPS


def _draw_addition(target: FilterTarget) -> None:
    """Draw the button that adds a filter: on a key field, on a metric, or a group of which any holds."""
    popover = st.popover("Filter", icon=":material/add:", key=ADD, on_change="rerun", type="tertiary")
    if not popover.open:
        return
    context = target.context
    keys = filter_pills.field_labels(context.slicer)
    labels = keys | {FIGURE + field.name: f"{title(field)} (metric)" for field in context.slicer.data_fields}
    labels |= {ANY_OF: ANY_OF} if _is_group_offered(target) else {}
    with popover:
        target_of = dict.fromkeys(keys, target).get
        name = filter_pills.draw_addition(target_of, ADD, labels, ADD)
        if name == ANY_OF:
            st.caption("Rows for which any of these filters holds. Add the first, then the others.")
            group = _group(context, len(target.read().any_of), ADD)
            filter_pills.draw_addition(lambda _: group, f"{ADD}_any", keys)
        elif name is not None:
            data_filter_form.draw(DRAFT)
            finish = partial(_put_data_filter, context, DRAFT, name.removeprefix(FIGURE))
            st.button("Add filter", type="primary", key=f"{DRAFT}_done", on_click=finish)


def _put_data_filter(context: PageContext, key: str, name: str, old: DataFilter | None = None) -> None:
    """Put the filter of the form in the place of `old`; without a number the form stays. A callback."""
    new = data_filter_form.read(key, name)
    if new is None:
        return
    page_state = history.current(context)
    before = page_state.view.data_filters
    if old is None:
        st.session_state[ADD], st.session_state[f"{ADD}_field"] = False, None
    after = [new if filter_ == old else filter_ for filter_ in before] + [new] * (old is None)
    history.change(page_state.with_view(data_filters=(*dict.fromkeys(after),)[: state.MOST_DATA_FILTERS]))


def _remove_data_filter(context: PageContext, key: str, old: DataFilter) -> None:
    st.session_state[key] = False
    before = history.current(context).view.data_filters
    history.change_view(context, data_filters=tuple(filter_ for filter_ in before if filter_ != old))


def _clear(context: PageContext) -> None:
    history.change(history.current(context).with_query(filters=(), any_of=()).with_view(data_filters=()))


def _button(context: PageContext, label: str, icon: str, is_possible: bool) -> None:
    name = label.lower()
    # From where the person is, who may just have clicked on a row.
    act = partial(page_clicks.catch_up, context, [name])
    widgets.icon_button(label, icon, f"question_{name}", act, help=label, disabled=not is_possible)


@st.fragment
def draw(
    context: PageContext,
    with_comparison: bool = True,
    actions: Sequence[Callable[[PageContext], None]] = (),
    more: Mapping[str, MenuPart] | None = None,
    send: Send | None = None,
    beside_filters: Callable[[PageContext], None] | None = None,
) -> None:
    """Draw the question: its days and what is done with it, and below them its filters.

    What is only opened or typed in redraws this line alone, a choice all. `actions` draw what else there is
    to do with the question, `beside_filters` what to do with its filters, `more` the parts of its menu,
    `send` what sends it to others.
    """
    row = partial(st.container, horizontal=True, vertical_alignment="center", gap="xsmall")
    with row(key=BAR):
        with row(key="question_days", width="content"):
            dates_picker.draw(context)
            if with_comparison:
                dates_picker.draw_comparison(context)
        if with_comparison:
            wording_field.draw(context)
        with row(key="question_more", width="content"):
            for draw_action in actions:
                draw_action(context)
            # Two buttons; each is disabled while there is nothing for it to do, both are hidden while both
            # are.
            steps = history.steps()
            _button(context, "Undo", "undo", bool(steps.undo))
            _button(context, "Redo", "redo", bool(steps.redo))
            saved.draw(context, send=send)
            share.draw(context, send)
            if more:
                # What is rarely used, one part at a time; only the one in sight is computed.
                menu = st.popover(
                    "More", icon=":material/more_horiz:", type="tertiary", key=MORE, on_change="rerun"
                )
                if menu.open:
                    with menu, st.container(width=MORE_WIDTH):
                        part = st.segmented_control(
                            "More about the question", [*more], default=next(iter(more)), key=MORE_PART,
                            required=True, label_visibility="collapsed",
                        )  # fmt: skip
                        more[part](context)
                        _button(context, "Reset", "restart_alt", not history.is_default(context))
            else:
                _button(context, "Reset", "restart_alt", not history.is_default(context))
        with row(key="question_filters"):
            draw_filter_picker(context)
            if beside_filters is not None:
                beside_filters(context)
            # What of a link, or of the question about another slicer, was left out, where it moves nothing.
            if sentences := history.left_out():
                label = f":orange[{len(sentences)} left out]"
                with st.popover(label, icon=":material/link_off:", type="tertiary"):
                    for sentence in sentences:
                        st.warning(plain(sentence))
