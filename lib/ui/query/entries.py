"""Entries that are kept under names, in a popover: a row for each, and panels that change or delete one.

Saved views are such entries, and what other screens keep under names.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import streamlit as st

from lib.figures import numbers
from lib.figures.context import RequestContext
from lib.ui.kit import problems, widgets
from lib.ui.kit.markdown import plain
from lib.views import Board, DealEntry, NamedEntries, SavedView

LONGEST_LABEL = 28
REMOTE = "Kept by Tranche; the deals service does not have them."
SavedEntry = SavedView | DealEntry | Board
Action = tuple[str, str, str, Callable[[], None]]
SetStart = Callable[[int | None], object]


@dataclass(frozen=True)
class EntryShelf:
    """Entries of one kind on screen: their store, and their words; `key` tells their widgets from others'.

    `sharing` is the label of the box that shares one, `loss` what everybody loses with one that is shared.
    """

    key: str
    store: Callable[[RequestContext], NamedEntries[Any]]
    plural: str
    sharing: str
    loss: str

    @property
    def singular(self) -> str:
        """What one is called."""
        return self.plural.removesuffix("s")

    def state(self, name: str) -> str:
        """A key of the session: `open`, `chosen`, `panel`, `problem`, `name`, `share`."""
        return f"view_{self.key}{name}"

    def open_entry(self, entries: Iterable[Any]) -> Any:
        """The entry whose panel is open, or None."""
        return next(
            (entry for entry in entries if entry.id == st.session_state.get(self.state("chosen"))), None
        )

    def attempt(self, work: Callable[[], object]) -> NoReturn:
        """Run `work` and draw the whole page; an error is shown until the next action. For callbacks."""
        _, st.session_state[self.state("problem")] = problems.attempt(work)
        st.rerun()  # a list in a fragment is not the only place with these entries

    def show(self, entry: SavedEntry, panel: str) -> None:
        """Open a panel of an entry. A callback."""
        state = st.session_state
        state[self.state("chosen")], state[self.state("panel")], state[self.state("problem")] = (
            entry.id,
            panel,
            "",
        )

    def back(self) -> None:
        """Back to the list. A callback."""
        st.session_state[self.state("chosen")], st.session_state[self.state("problem")] = None, ""


def may_change(context: RequestContext, entry: SavedEntry) -> bool:
    """Whether the person may rename, update and delete this entry."""
    return entry.is_mine or context.person.role == "admin"


def about(entry: SavedEntry) -> str:
    """The owner, who can see the entry, and when it was last changed."""
    whose = "yours" if entry.is_mine else f"by {plain(entry.owner)}"
    audience = "shared" if entry.is_shared else "only you see it"
    return f"{whose} · {audience} · saved {numbers.days(entry.changed.date(), entry.changed.date())}"


def label(entry: SavedEntry, is_changed: bool) -> str:
    """The name of an open entry, shortened, with a mark if what it stores has changed on screen."""
    name = entry.name
    short = name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
    return f"{plain(short)} · changed" if is_changed else plain(short)


def note_storage(address: str) -> None:
    """Say that the desk keeps them, where the service at this address is a remote one."""
    if address:
        st.caption(REMOTE)


def problem(shelf: EntryShelf) -> None:
    """Draw why the last action failed, if it did."""
    if sentence := st.session_state.get(shelf.state("problem")):
        st.error(plain(sentence), icon=":material/error:")


def row(
    shelf: EntryShelf,
    entry: SavedEntry,
    is_current: bool,
    opens: Callable[[Any], None],
    actions: Iterable[Action],
    more: str = "",
) -> None:
    """Draw an entry: a click on its name opens it; `actions` are a menu, `more` follows its description."""
    icon = "check" if is_current else "group" if entry.is_shared else "bookmark"
    with st.container(horizontal=True, vertical_alignment="center", gap=None, wrap=False):
        with st.container(gap=None, width="stretch"):
            key, help = f"view_open_{shelf.key}{entry.id}", f"Open {plain(entry.name)}"
            widgets.icon_button(plain(entry.name), icon, key, partial(opens, entry), help)
            st.caption(about(entry) + more)
        acts = {name: (f":material/{symbol}: {plain(label)}", act) for name, symbol, label, act in actions}
        if acts:
            key = f"view_do_{shelf.key}{entry.id}"
            st.menu_button(
                plain(f"More for {entry.name}"), acts, icon=":material/more_horiz:", type="tertiary", key=key,
                format_func=lambda name: acts[name][0], on_click=lambda: acts[st.session_state[key]][1](),
            )  # fmt: skip


def start_action(shelf: EntryShelf, entry: SavedEntry, start: SavedEntry | None, change: SetStart) -> Action:
    """Makes an entry the person's start page, or where it is that, their usual screen again."""
    is_start = start is not None and start.id == entry.id
    act = partial(shelf.attempt, partial(change, None if is_start else entry.id))
    if is_start:
        return "start", "home_pin", f"Stop opening Tranche on {entry.name}", act
    return "start", "home", f"Open Tranche on {entry.name}", act


def changes(context: RequestContext, shelf: EntryShelf, entry: SavedEntry) -> Iterator[Action]:
    """Edit and delete, for who may."""
    if may_change(context, entry):
        yield "edit", "edit", f"Edit {entry.name}", partial(shelf.show, entry, "edit")
        yield "delete", "delete", f"Delete {entry.name}", partial(shelf.show, entry, "delete")


def head(shelf: EntryShelf, entry: SavedEntry) -> None:
    """Draw the head of a panel: the way back, and which entry it is."""
    widgets.icon_button(plain(f"All {shelf.plural}"), "arrow_back", f"view_{shelf.key}all", shelf.back)
    st.markdown(f"**{plain(entry.name)}**")
    st.caption(about(entry))


def new(shelf: EntryShelf, label: str, save: Callable[[str, bool], object]) -> None:
    """Draw the form that keeps something under a name; `save` gets name and sharing. Saved, it is empty."""
    state, name, share = st.session_state, shelf.state("name"), shelf.state("share")

    def store() -> None:
        save(state[name] or "", state[share])
        state[name], state[share] = "", False

    with st.form(shelf.state("new"), border=False):
        st.text_input(label, key=name, placeholder="Name")
        st.checkbox(plain(shelf.sharing), key=share)
        label, act = plain(f"Save {shelf.singular}"), partial(shelf.attempt, store)
        st.form_submit_button(label, type="primary", on_click=act)


def edit(context: RequestContext, shelf: EntryShelf, entry: SavedEntry) -> None:
    """Draw the form that renames and shares an entry."""
    name_key, share_key = f"view_rename_{shelf.key}{entry.id}", f"view_reshare_{shelf.key}{entry.id}"

    def change() -> None:
        title, is_shared = st.session_state[name_key], bool(st.session_state[share_key])
        shelf.attempt(lambda: shelf.store(context).rename(entry.id, title, is_shared))

    with st.form(shelf.state("change"), border=False):
        st.text_input("Name", entry.name, key=name_key)
        st.checkbox(plain(shelf.sharing), entry.is_shared, key=share_key)
        st.form_submit_button("Save changes", on_click=change)


def deletion(context: RequestContext, shelf: EntryShelf, entry: SavedEntry) -> None:
    """Draw the question before a deletion: the icon asks, a second click deletes."""

    def delete() -> None:
        st.session_state[shelf.state("chosen")] = None
        shelf.attempt(lambda: shelf.store(context).delete(entry.id))

    consequence = shelf.loss if entry.is_shared else "This can't be undone."
    st.warning(f"Delete {plain(entry.name)}? {plain(consequence)}", icon=":material/delete:")
    with st.container(horizontal=True):
        st.button("Delete permanently", type="primary", key=shelf.state("delete_sure"), on_click=delete)
        st.button("Keep", key=shelf.state("delete_not"), on_click=shelf.back)
