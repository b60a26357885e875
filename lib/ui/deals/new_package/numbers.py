"""A picker of several by their ids, with their names; where no list of them exists, ids are typed in too."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from lib.ui.kit import notes

WRONG = "An id is a number; others were left out"


@dataclass(frozen=True)
class TypedIds:
    """Whether ids may be typed that nothing here knows, and whether anything may be picked at all."""

    takes_ids: bool = False
    disabled: bool = False


def draw(title: str, names: Mapping[int, str], key: str, offer: TypedIds, placeholder: str) -> None:
    """The picker. `names` are those of all ids that are known or chosen."""
    st.multiselect(
        title,
        list(names),
        format_func=lambda one: names.get(one, str(one)),
        key=key,
        persist_state="session",
        filter_mode="contains",
        select_all=False,
        wrap=True,
        placeholder=placeholder,
        accept_new_options=offer.takes_ids,
        disabled=offer.disabled,
        on_change=_as_numbers if offer.takes_ids else "rerun",
        args=(key,) if offer.takes_ids else None,
    )
    if offer.takes_ids:
        notes.draw()


def read(typed: object) -> int | None:
    """The id that was picked or typed; None for what is none."""
    if isinstance(typed, int):
        return typed
    text = str(typed).strip()
    return int(text) if text.isascii() and text.isdecimal() and 0 < int(text) < 2**53 else None


def _as_numbers(key: str) -> None:
    """Typed ids become numbers. A callback."""
    typed = st.session_state[key]
    found = [number for one in typed if (number := read(one)) is not None]
    if len(found) < len(typed):
        notes.say(WRONG)
    st.session_state[key] = list(dict.fromkeys(found))
