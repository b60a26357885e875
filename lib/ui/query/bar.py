"""The question: dates, comparison, words, undo and redo, and the link to it; below these its filters.

Filters are pills with a popover each. A pill holds all that is chosen of one key field, or one filter by
texts. While its popover is open its label stays: with another one it would be another popover, and closed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import streamlit as st

from lib.figures.numbers import Numbers, title
from lib.figures.query import filters, state, values
from lib.reporting.models import AudienceQuery, DataFilter
from lib.ui.kit import reader, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import (
    data_filter_form,
    dates_picker,
    filter_editor,
    filter_form,
    history,
    page_clicks,
    saved,
    share,
    wording_field,
)
from lib.ui.query.filter_editor import LIST, PASTE
from lib.ui.query.filter_form import ANY_OF
from lib.ui.query.share import Send
from lib.wire.filters import Filter

ADD, FIELD, WAY, DRAFT = "filter_add", "filter_add_field", "filter_add_way", "filter_draft"
PILLS = "filter_pills"
TEXT = "Text"
FIGURE = "\x1f"  # before the name of a data field among those of key fields, which can't have it
BAR, MORE, MORE_PART, MORE_WIDTH = "question_bar", "question_menu", "question_menu_part", 440
MenuPart = Callable[[PageContext], None]
"""Draws a part of the menu More, while it is the one in sight."""
Read = Callable[[str, str], Filter | DataFilter | None]
"""Reads a filter from a form, by the key of its widgets and the name of its field; None while it is empty."""


def draw_filter_picker(context: PageContext) -> None:
    """Draw the button to add a filter (at a fixed place), the pills, and the button that clears them all."""
    page_state = history.current(context)
    query = page_state.query
    _draw_addition(context)
    # A container whose children flow with the button before it (style.css): lines of pills begin below it.
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=PILLS):
        for pill in _pills(query):
            _draw_pill(context, query, *pill)
        for index in range(len(query.any_of)):
            _draw_group(context, query, index)
        for index, filter_ in enumerate(page_state.view.data_filters):
            _draw_data_filter(context, index, filter_)
        if query.filters or query.any_of or page_state.view.data_filters:
            act = partial(_clear, context)
            widgets.icon_button("Clear all", "filter_alt_off", "filters_clear", act, help="Clear all filters")


def _pills(query: AudienceQuery) -> Iterator[tuple[str, tuple[Filter, ...]]]:
    """A key, and its filters: those on whole values of one key field, or a single one by texts."""
    names: set[str] = set()
    for index, filter_ in enumerate(query.filters):
        if not filters.is_whole(filter_):
            yield f"filter_{index}", (filter_,)
        elif filter_.name not in names:
            names.add(filter_.name)
            yield f"filter_{filter_.name}", filters.about(query, filter_.name)


def _draw_pill(context: PageContext, query: AudienceQuery, key: str, own_filters: tuple[Filter, ...]) -> None:
    filter_ = own_filters[0]
    name = filter_.name
    descriptions = values.descriptions(context, query, name, filters.values(query, name))
    with _popover(key, filters.together(own_filters, context.slicer, descriptions)) as popover:
        if not popover.open:
            return
        if filters.is_whole(filter_):
            filter_editor.draw_values(context, key, name, _way(f"{key}_way", (LIST, PASTE)))
        else:
            filter_editor.fill(key, filter_)
            change = partial(_change, context, filter_, key, filter_editor.read)
            filter_editor.draw_texts(context, key, name, change)
            filter_editor.draw_removal(key, partial(_remove, context, filter_, key))
        filter_form.draw_or(context, query, key, own_filters)


def _draw_group(context: PageContext, query: AudienceQuery, index: int) -> None:
    label = filter_form.sentence(context, query, query.any_of[index])
    with _popover(filter_form.pill_key(index), label) as popover:
        if popover.open:
            filter_form.draw_group(context, query, index)


def _draw_data_filter(context: PageContext, index: int, filter_: DataFilter) -> None:
    key, numbers = f"figure_filter_{index}", Numbers.of(reader.locale())
    with _popover(key, filters.figure_sentence(filter_, context.slicer, numbers)) as popover:
        if popover.open:
            change = partial(_change, context, filter_, key, data_filter_form.read)
            data_filter_form.draw(key, filter_, change)
            filter_editor.draw_removal(key, partial(_remove, context, filter_, key))


@contextmanager
def _popover(key: str, label: str) -> Iterator[Any]:
    """A pill's popover, within which the whole label is drawn first while it is open."""
    label_key = f"{key}_label"
    if not st.session_state.get(key) or label_key not in st.session_state:
        st.session_state[label_key] = label
    popover = st.popover(plain(st.session_state[label_key]), key=key, on_change="rerun")
    with popover:
        if popover.open:
            st.markdown(f"**{plain(label)}**")
        yield popover


def _draw_addition(context: PageContext) -> None:
    """Draw the button that adds a filter: on a key field, on a metric, or a group of which any holds."""
    popover = st.popover("Filter", icon=":material/add:", key=ADD, on_change="rerun", type="tertiary")
    if not popover.open:
        return
    with popover:
        query, slicer = history.current(context).query, context.slicer
        labels = {field.name: filters.field(field.name, slicer) for field in slicer.key_fields}
        labels |= {FIGURE + field.name: f"{title(field)} (metric)" for field in slicer.data_fields}
        labels |= {ANY_OF: ANY_OF} if filter_form.is_offered(context, query) else {}
        name = st.selectbox(
            "Field", labels, index=None, format_func=labels.__getitem__, placeholder="What to filter by",
            key=FIELD, width=filter_editor.WIDTH, filter_mode="contains", on_change=_begin,
        )  # fmt: skip
        if name == ANY_OF:
            filter_form.draw_new_group(context, query, ADD)
        elif name is not None and name.startswith(FIGURE):
            data_filter_form.draw(DRAFT)
            _draw_finish(context, name.removeprefix(FIGURE), data_filter_form.read)
        elif name is not None and (way := _way(WAY, (LIST, TEXT, PASTE))) == TEXT:
            filter_editor.draw_texts(context, DRAFT, name, None)
            _draw_finish(context, name, filter_editor.read)
        elif name is not None:
            filter_editor.draw_values(context, ADD, name, way)


def _draw_finish(context: PageContext, name: str, read: Read) -> None:
    finish = partial(_finish, context, name, read)
    st.button("Add filter", type="primary", key=f"{DRAFT}_done", on_click=finish)


def _way(key: str, ways: tuple[str, ...]) -> str:
    way: str = st.segmented_control(
        "Values by", ways, default=LIST, key=key, required=True, label_visibility="collapsed"
    )
    return way


def _begin() -> None:
    """Clear the forms of a new filter. A callback."""
    filter_editor.fill(DRAFT)
    data_filter_form.fill(DRAFT)


def _finish(context: PageContext, name: str, read: Read) -> None:
    """Add the drafted filter; without texts or a number it stays a draft."""
    if (new_filter := read(DRAFT, name)) is not None:
        st.session_state[ADD], st.session_state[FIELD] = False, None
        _ask(context, None, new_filter)


def _change(context: PageContext, filter_: Filter | DataFilter, key: str, read: Read) -> None:
    """Apply the edited filter; without texts or a number the filter stays as it was."""
    if (new_filter := read(key, filter_.name)) is not None:
        _ask(context, filter_, new_filter)


def _remove(context: PageContext, filter_: Filter | DataFilter, key: str) -> None:
    st.session_state[key] = False
    _ask(context, filter_, None)


def _ask(context: PageContext, old: Filter | DataFilter | None, new: Filter | DataFilter | None) -> None:
    """Put a filter in the place of another; without `old` add it, without `new` remove the other."""
    # A row may have been clicked since the pill was drawn: the current filters count.
    page_state = history.current(context)
    is_figure = isinstance(old or new, DataFilter)
    before = page_state.view.data_filters if is_figure else page_state.query.filters
    after = (*(new if filter_ == old else filter_ for filter_ in before), *([new] if old is None else []))
    filters = tuple(filter_ for filter_ in after if filter_ is not None)
    if is_figure:
        page_state = page_state.with_view(data_filters=(*dict.fromkeys(filters),)[: state.MOST_DATA_FILTERS])
    else:
        page_state = page_state.with_query(filters=filters)
    history.change(page_state)


def _clear(context: PageContext) -> None:
    history.change(history.current(context).with_query(filters=(), any_of=()).with_view(data_filters=()))


def _draw_menu(context: PageContext, parts: Mapping[str, MenuPart]) -> None:
    """Draw the popover with what is rarely used, one part at a time; only the one in sight is computed."""
    popover = st.popover("More", icon=":material/more_horiz:", type="tertiary", key=MORE, on_change="rerun")
    if not popover.open:
        return
    with popover, st.container(width=MORE_WIDTH):
        part = st.segmented_control(
            "More about the question", [*parts], default=next(iter(parts)), key=MORE_PART, required=True,
            label_visibility="collapsed",
        )  # fmt: skip
        parts[part](context)
        _draw_reset(context)


def _draw_reset(context: PageContext) -> None:
    _button(context, "Reset", "restart_alt", not history.is_default(context))


def _button(context: PageContext, label: str, icon: str, is_possible: bool) -> None:
    name = label.lower()
    # From where the person is, who may just have clicked on a row.
    act = partial(page_clicks.catch_up, context, [name])
    widgets.icon_button(label, icon, f"question_{name}", act, help=label, disabled=not is_possible)


def draw(
    context: PageContext,
    with_comparison: bool = True,
    page: str = "audience",
    actions: Sequence[Callable[[PageContext], None]] = (),
    more: Mapping[str, MenuPart] | None = None,
    send: Send | None = None,
) -> None:
    """Draw the question beside the slicer: its days and what is done with it, and below them its filters.

    What is only opened or typed in redraws this line alone, a choice all. `actions` draw what else there is
    to do with the question, `more` the parts of its menu, `send` what sends it to others.
    """
    with context.row:
        _draw(context, with_comparison, page, actions, more or {}, send)


@st.fragment
def _draw(
    context: PageContext,
    with_comparison: bool,
    page: str,
    actions: Sequence[Callable[[PageContext], None]],
    more: Mapping[str, MenuPart],
    send: Send | None,
) -> None:
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
            saved.draw(context, page, send=send)
            share.draw(context, page, send)
            if more:
                _draw_menu(context, more)
            else:
                _draw_reset(context)
        with row(key="question_filters"):
            draw_filter_picker(context)
            # What of a link, or of the question about another slicer, was left out, where it moves nothing.
            if sentences := history.left_out():
                label = f":orange[{len(sentences)} left out]"
                with st.popover(label, icon=":material/link_off:", type="tertiary"):
                    for sentence in sentences:
                        st.warning(plain(sentence))
