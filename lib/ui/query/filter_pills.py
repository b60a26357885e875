"""Filters as pills, with the editor in the popover of each, and the popover that adds one.

A pill holds all that is chosen of one key field, or one filter by texts. While its popover is open its label
stays: with another one it would be another popover, and closed.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import streamlit as st

from lib.figures.query import filters, values
from lib.reporting.models import AudienceQuery
from lib.slicers.models import Slicer
from lib.ui.kit import widgets
from lib.ui.kit.markdown import plain
from lib.ui.query import filter_editor
from lib.ui.query.filter_editor import LIST, PASTE, TEXT, FilterTarget
from lib.wire.filters import Filter

Extra = Callable[[FilterTarget, str], None]
"""Draws within the popover of a pill, by its key."""


def draw_pills(target: FilterTarget, prefix: str, extra: Extra | None = None) -> None:
    """Draw a pill for each key field with chosen values, and for each filter by texts."""
    query = target.read()
    for key, own_filters in pills(query, prefix):
        name = own_filters[0].name
        descriptions = values.descriptions(target.context, query, name, filters.values(query, name))
        label = filters.together(own_filters, target.context.slicer, descriptions)
        with popover(key, label) as pill:
            if pill.open:
                with st.container(width=filter_editor.WIDTH):
                    if filters.is_whole(own_filters[0]):
                        filter_editor.draw_values(target, key, name, _way(f"{key}_way", (LIST, PASTE)))
                    else:
                        filter_editor.fill(key, own_filters[0])
                        change = partial(_change, target, own_filters[0], key)
                        filter_editor.draw_texts(target.context, key, name, change)
                        remove = partial(replace_filter, target, own_filters[0], None, key)
                        filter_editor.draw_removal(key, remove)
                    if extra is not None and len(own_filters) == 1:
                        extra(target, key)


def pills(query: AudienceQuery, prefix: str) -> Iterator[tuple[str, tuple[Filter, ...]]]:
    """A key, and its filters: those on whole values of one key field, or a single one by texts."""
    names: set[str] = set()
    for index, filter_ in enumerate(query.filters):
        if not filters.is_whole(filter_):
            yield f"{prefix}_{index}", (filter_,)
        elif filter_.name not in names:
            names.add(filter_.name)
            yield f"{prefix}_{filter_.name}", filters.about(query, filter_.name)


def _change(target: FilterTarget, filter_: Filter, key: str) -> None:
    """Apply the edited filter; without texts it stays as it was."""
    if (new_filter := filter_editor.read(key, filter_.name)) is not None:
        replace_filter(target, filter_, new_filter)


def replace_filter(
    target: FilterTarget, old: Filter | None, new: Filter | None, popover_key: str = ""
) -> None:
    """Put a filter in the place of another; without `old` add it, without `new` remove the other. A callback.

    It closes the popover of that key.
    """
    if popover_key:
        st.session_state[popover_key] = False
    # A row may have been clicked since the pill was drawn: the current filters count.
    after = [new if filter_ == old else filter_ for filter_ in target.read().filters]
    target.write_filters(filter_ for filter_ in (*after, *([new] if old is None else [])) if filter_)


@contextmanager
def popover(key: str, label: str) -> Iterator[Any]:
    """A pill's popover, within which the whole label is drawn first while it is open."""
    label_key = f"{key}_label"
    if not st.session_state.get(key) or label_key not in st.session_state:
        st.session_state[label_key] = label
    pill = st.popover(plain(st.session_state[label_key]), key=key, on_change="rerun")
    with pill:
        if pill.open:
            st.markdown(f"**{plain(label)}**")
        yield pill


def draw_alternatives(target: FilterTarget, key: str) -> None:
    """Draw each filter in words with a button that removes it, and the editor for one more."""
    query, context = target.read(), target.context
    texts = filters.sentences(query, context.slicer, values.of_filters(context, query))
    for number, (filter_, text) in enumerate(zip(query.filters, texts, strict=False)):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{'or' if number else ''} {plain(text)}", width="stretch")
            remove = partial(replace_filter, target, filter_, None)
            help = plain(f"Remove “{text}”")
            widgets.icon_button("Remove", "close", f"{key}_remove_{number}", remove, help)
    draw_addition(lambda name: target, key, field_labels(target.context.slicer))


def field_labels(slicer: Slicer) -> dict[str, str]:
    """The key fields to choose from, by name."""
    return {field.name: filters.field(field.name, slicer) for field in slicer.key_fields}


def draw_addition(
    target_of: Callable[[str], FilterTarget | None],
    key: str,
    labels: Mapping[str, str],
    popover_key: str = "",
) -> str | None:
    """Draw the picker of a field, and the editor of a new filter on it: List, Text or Paste.

    `labels` are names with their labels, and `target_of` gives the filters to which one on that key field is
    added. Returns the chosen name where it is no key field's. A filter by texts closes the popover of that
    key.
    """
    name = st.selectbox(
        "Field", labels, index=None, format_func=labels.__getitem__, placeholder="What to filter by",
        key=f"{key}_field", width=filter_editor.WIDTH, filter_mode="contains",
        on_change=partial(filter_editor.fill, f"{key}_draft"),
    )  # fmt: skip
    target = None if name is None else target_of(name)
    if name is None or target is None:
        return name
    with st.container(width=filter_editor.WIDTH):
        if (way := _way(f"{key}_way", (LIST, TEXT, PASTE))) == TEXT:
            filter_editor.draw_texts(target.context, f"{key}_draft", name, None)
            finish = partial(_finish, target, key, name, popover_key)
            st.button("Add filter", type="primary", key=f"{key}_draft_done", on_click=finish)
        else:
            filter_editor.draw_values(target, key, name, way)
    return None


def _finish(target: FilterTarget, key: str, name: str, popover_key: str) -> None:
    """Add the drafted filter; without texts it stays a draft. A callback."""
    if (new_filter := filter_editor.read(f"{key}_draft", name)) is not None:
        st.session_state[f"{key}_field"] = None
        replace_filter(target, None, new_filter, popover_key)


def _way(key: str, ways: tuple[str, ...]) -> str:
    way: str = st.segmented_control(
        "Values by", ways, default=LIST, key=key, required=True, label_visibility="collapsed"
    )
    return way
