"""The question on one line: dates, comparison, filters, undo and redo, and the link to it.

The question's filters as pills, one popover each, and one to add another.

A pill holds all that is chosen of one key field, or one filter by texts. While its popover is open its label
stays: with another one it would be another popover, and closed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from lib.reporting.models import AudienceQuery, Filter
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import (
    dates_picker,
    drill,
    filter_editor,
    filter_words,
    filters,
    question,
    saved,
    share,
    values,
)
from lib.ui.query.filter_editor import LIST, PASTE

ADD, FIELD, WAY, DRAFT = "filter_add", "filter_add_field", "filter_add_way", "filter_draft"
PILLS, UNFOLDED, IN_SIGHT = "filter_pills", "filters_unfolded", 2
TEXT = "Text"


@dataclass(frozen=True)
class _Pill:
    """A key, and its filters: those on whole values of one key field, or a single one by texts."""

    key: str
    filters: tuple[Filter, ...]

    @property
    def name(self) -> str:
        return self.filters[0].name


def draw_filter_picker(context: PageContext) -> None:
    """Draw the button to add a filter (at a fixed place), the pills, and the button that clears them all.

    The pills have a line of their own, in which they scroll: what is beside them stays where it is. Of many,
    the latest are in sight, and a button shows the others.
    """
    query = question.current(context)
    _add(context)
    pills, is_unfolded = [*_pills(query)], st.session_state.get(UNFOLDED, False)
    folded = 0 if is_unfolded else max(len(pills) - IN_SIGHT, 0)
    if len(pills) > IN_SIGHT:
        st.button(
            "Fewer" if is_unfolded else f"+{folded}",
            help="Show the latest filters alone" if is_unfolded else "Show all filters",
            type="tertiary",
            key="filters_more",
            on_click=_unfold,
            args=(not is_unfolded,),
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=PILLS):
        for pill in pills[folded:]:
            _draw_pill(context, query, pill)
    if query.filters:
        st.button(
            "Clear all",
            icon=":material/filter_alt_off:",
            type="tertiary",
            key="filters_clear",
            help="Clear all filters",
            on_click=_ask,
            args=(context, lambda _: ()),
        )


def _unfold(is_unfolded: bool) -> None:
    st.session_state[UNFOLDED] = is_unfolded


def _pills(query: AudienceQuery) -> Iterator[_Pill]:
    seen: set[str] = set()
    for place, filter_ in enumerate(query.filters):
        if not filters.is_whole(filter_):
            yield _Pill(f"filter_{place}", (filter_,))
        elif filter_.name not in seen:
            seen.add(filter_.name)
            yield _Pill(f"filter_{filter_.name}", filters.about(query, filter_.name))


def _draw_pill(context: PageContext, query: AudienceQuery, pill: _Pill) -> None:
    label, shown = _sentence(context, query, pill), f"{pill.key}_label"
    if not st.session_state.get(pill.key):
        st.session_state[shown] = label
    popover = st.popover(
        plain(st.session_state[shown]), icon=":material/filter_alt:", key=pill.key, on_change="rerun"
    )
    if not popover.open:
        return
    with popover:
        st.markdown(f"**{plain(label)}**")
        if filters.is_whole(pill.filters[0]):
            way = _way(f"{pill.key}_way", (LIST, PASTE))
            filter_editor.draw_values(context, pill.key, pill.name, way)
        else:
            _texts(context, pill)


def _sentence(context: PageContext, query: AudienceQuery, pill: _Pill) -> str:
    descriptions = values.words(context, query, pill.name, filters.values(query, pill.name))
    return filter_words.together(pill.filters, context.slicer, descriptions)


def _texts(context: PageContext, pill: _Pill) -> None:
    filter_ = pill.filters[0]
    filter_editor.fill(pill.key, filter_)
    filter_editor.draw_texts(context, pill.key, pill.name, partial(_change, context, filter_, pill.key))
    filter_editor.draw_removal(pill.key, partial(_remove, context, filter_, pill.key))


def _add(context: PageContext) -> None:
    popover = st.popover("Filter", icon=":material/add:", key=ADD, on_change="rerun", type="tertiary")
    if not popover.open:
        return
    with popover:
        name = st.selectbox(
            "Key field",
            [field.name for field in context.slicer.key_fields],
            index=None,
            format_func=lambda name: filter_words.field(name, context.slicer),
            placeholder="What to filter by",
            key=FIELD,
            width=filter_editor.WIDTH,
            filter_mode="contains",
            on_change=filter_editor.fill,
            args=(DRAFT,),
        )
        if name is None:
            return
        way = _way(WAY, (LIST, TEXT, PASTE))
        if way == TEXT:
            filter_editor.draw_texts(context, DRAFT, name, None)
            st.button(
                "Add filter", type="primary", key=f"{DRAFT}_done", on_click=_finish, args=(context, name)
            )
        else:
            filter_editor.draw_values(context, ADD, name, way)


def _way(key: str, ways: tuple[str, ...]) -> str:
    way: str = st.segmented_control(
        "Values by", ways, default=LIST, key=key, required=True, label_visibility="collapsed"
    )
    return way


def _finish(context: PageContext, name: str) -> None:
    """Add the drafted filter; without texts it stays a draft."""
    drafted = filter_editor.read(DRAFT, name)
    if drafted.value:
        st.session_state[ADD], st.session_state[FIELD] = False, None
        _ask(context, lambda filters: (*filters, drafted))


def _change(context: PageContext, filter_: Filter, prefix: str) -> None:
    """Apply the edited filter; without texts the filter stays as it was."""
    edited = filter_editor.read(prefix, filter_.name)
    if edited.value:
        _ask(context, lambda filters: tuple(edited if found == filter_ else found for found in filters))


def _remove(context: PageContext, filter_: Filter, prefix: str) -> None:
    st.session_state[prefix] = False
    _ask(context, lambda filters: tuple(found for found in filters if found != filter_))


def _ask(context: PageContext, change: Callable[[tuple[Filter, ...]], tuple[Filter, ...]]) -> None:
    """Change the filters of the current question: a row may have been clicked since the pill was drawn."""
    query = question.current(context)
    question.ask(query.model_copy(update={"filters": change(query.filters)}))
    st.rerun()


def draw_history(context: PageContext) -> None:
    """Three buttons; each is disabled while there is nothing for it to do."""
    steps = question.steps()
    _button(context, "Undo", "undo", question.undo, bool(steps.past))
    _button(context, "Redo", "redo", question.redo, bool(steps.undone))
    reset = partial(question.reset, context)
    _button(context, "Reset", "restart_alt", reset, not question.is_usual(context))


def _button(context: PageContext, label: str, icon: str, act: Callable[[], None], is_possible: bool) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        type="tertiary",
        key=f"question_{label.lower()}",
        help=label,
        disabled=not is_possible,
        on_click=_done,
        args=(context, act),
    )


def _done(context: PageContext, act: Callable[[], None]) -> None:
    """Go a step from where the person is, who may just have clicked on a row."""
    drill.catch_up(context)
    act()
    st.rerun()


BAR = "question_bar"


def draw(
    context: PageContext,
    with_comparison: bool = True,
    page: str = "audience",
    more: Sequence[Callable[[PageContext], None]] = (),
) -> None:
    """Draw the question beside the slicer, on one line; on a phone in two, the filters first.

    What is only opened or typed in redraws this line alone, a choice all. `more` draw what else there is to
    do with the question.
    """
    with context.row:
        _draw(context, with_comparison, page, more)


@st.fragment
def _draw(
    context: PageContext,
    with_comparison: bool,
    page: str,
    more: Sequence[Callable[[PageContext], None]],
) -> None:
    row = partial(st.container, horizontal=True, vertical_alignment="center", gap="xsmall")
    with row(key=BAR):
        with row(key="question_days", width="content"):
            dates_picker.draw(context)
            if with_comparison:
                dates_picker.draw_comparison(context)
        with row(key="question_filters"):
            draw_filter_picker(context)
        with row(key="question_more", width="content"):
            for one in more:
                one(context)
            draw_history(context)
            saved.draw(context, page)
            share.draw(context, page)
