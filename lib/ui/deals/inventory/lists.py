"""The screen Lists: domain and app lists, searched by the service, and supply files; the drawer of one."""

import re
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import AppList, DomainList, SupplyPackage
from lib.deals.supply.formats import file_title
from lib.deals.supply.store import ImportedFile
from lib.figures.deals.list_kinds import KINDS, ListKind
from lib.figures.error_text import is_open
from lib.ui.deals import catalog
from lib.ui.deals.counts import number
from lib.ui.deals.inventory import supply_files
from lib.ui.deals.list_state import open_key
from lib.ui.kit import address, downloads, listing, notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import attempt_write, draw_problem, report_errors, show
from lib.wire.errors import NotFound, TrancheError

KIND, SEARCH, LIST, NEW = "lists_kind", "lists_find", "lists_list", "lists_new"
OPEN = "list"
MOST_ROWS = 1_000
MOST = 100
FIND, PROBLEM = "list_find", "list_problem"
ADDRESS = re.compile(r"(domain_lists|app_lists|supply_files)-([1-9][0-9]{0,15})")
PLACEHOLDERS = {supply_files.ENTITY: "Domain or file"}
COLUMNS = (
    listing.ListColumn("name", "Name", 24.0),
    listing.ListColumn("entries", "Entries", 7.0, is_right=True, on_phone="top"),
    listing.ListColumn("first", "First entries", 34.0, on_phone="left"),
    listing.ListColumn("id", "Id", 5.0, is_right=True),
)
SEPARATORS = re.compile(r"[,;\t]")


@dataclass(frozen=True)
class BrokenEntry:
    """An entry that can't be read: its line (from 1), as it was pasted, and why."""

    line: int
    text: str
    why: str


@dataclass(frozen=True)
class Paste:
    """Parsed entries in order without repeats, those that can't be read, and the number of repeats."""

    entries: tuple[str, ...]
    broken: tuple[BrokenEntry, ...]
    repeats: int

    def new(self, present: Iterable[str]) -> list[str]:
        existing = set(present)
        return [entry for entry in self.entries if entry not in existing]

    @property
    def rest(self) -> str:
        """The entries that can't be read, a line each, to be corrected."""
        return "\n".join(entry.text for entry in self.broken)


@dataclass(frozen=True)
class OpenList:
    """The list that is open in the drawer, as it was read."""

    context: PageContext
    entity: str
    entry_list: DomainList | AppList

    @property
    def kind(self) -> ListKind:
        return KINDS[self.entity]

    @property
    def entries(self) -> tuple[str, ...]:
        return self.kind.entries(self.entry_list)

    def key(self, name: str) -> str:
        return f"list_{name}_{self.entity}-{self.entry_list.id}"

    def change(self, fields: dict[str, Any], note: str) -> bool:
        """Change the list unless somebody else did; errors are shown in the drawer. True if it worked."""
        number, etag = self.entry_list.id or 0, self.entry_list.etag
        is_done = attempt_write(PROBLEM, lambda: self.context.deals.change(self.entity, number, fields, etag))
        catalog.forget()
        if is_done:
            notes.say(note)
        return is_done


WIDTH = 720


def draw(context: PageContext) -> None:
    """Draw the lists of a kind, and the drawer of the open one."""
    with report_errors("The lists", effect="Nothing was changed."):
        does = catalog.abilities(context)
        if not does.lists:
            st.info("This service has no lists that Tranche can read.", icon=":material/info:")
        if does.refuses:
            st.caption(f":material/lock: {plain(does.refuses)}.")
        _draw_list(context, [*(KINDS if does.lists else ()), supply_files.ENTITY])
    key = open_key(OPEN, ADDRESS)
    if key is None:
        return
    if key[0] == supply_files.ENTITY:
        with report_errors("The file", effect="Nothing was changed."):
            file = context.clients.supply_files.get(key[1])
            if file is None:
                _close()
                st.warning("This file was removed, or imported again.", icon=":material/link_off:")
                return
            title = plain(file_title(file.kind, file.domain))
            drawer = st.dialog(title, position="right", width=WIDTH, icon=":material/lan:", on_dismiss=_close)
            drawer(_draw_file)(context, file)
        return
    try:
        entry_list = context.deals.get(*key)
    except NotFound:
        _close()
        st.warning(f"List {key[1]:d} no longer exists.", icon=":material/link_off:")
        return
    except TrancheError as error:
        show(error, "The list", "Nothing was changed.")
        return
    title = plain(entry_list.name or f"List {key[1]}")
    drawer = st.dialog(title, position="right", width=WIDTH, icon=":material/list_alt:", on_dismiss=_close)
    drawer(_content)(context, key)


def _draw_list(context: PageContext, kinds: list[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        entity = st.segmented_control(
            "Kind", kinds, format_func=_kind_title, key=KIND, bind="query-params", required=True,
            default=kinds[0], label_visibility="collapsed",
        )  # fmt: skip
        text = st.text_input(
            "Search", type="search", live="200ms", key=SEARCH, bind="query-params",
            placeholder=PLACEHOLDERS.get(entity, "Name or id"), label_visibility="collapsed",
        )  # fmt: skip
        if entity == supply_files.ENTITY:
            supply_files.draw_import(context)
        elif not catalog.abilities(context).why_not(entity, "create"):
            with st.popover("New list", icon=":material/add:", key=NEW, on_change="rerun"):
                st.text_input("Name", key=f"{NEW}_name")
                st.button(
                    "Create list", type="primary", key=f"{NEW}_create", on_click=_create,
                    args=(context, entity),
                )  # fmt: skip
                if problem := st.session_state.get(f"{NEW}_problem"):
                    st.error(plain(problem), icon=":material/error:")
    if open_key(OPEN, ADDRESS) is None:
        notes.draw()
    is_supply = entity == supply_files.ENTITY
    count, rows = supply_files.rows(context, text or "", MOST) if is_supply else _rows(context, entity, text)
    if not rows:
        what = "files" if is_supply else "lists"
        st.info(f"No {what} match." if text else f"There are no {what} yet.", icon=":material/list_alt:")
        if is_supply and not text:
            st.caption(plain(supply_files.WHAT))
        return
    columns = supply_files.COLUMNS if is_supply else COLUMNS
    with st.container(key="lists_table"):
        page = listing.Listing(_kind_title(entity), columns, rows, count)
        listing.draw_links(LIST, page, partial(address.write, OPEN))
    if count > MOST:
        st.caption(f"The first {MOST:d} of {number(count)}. Search to find the others.")


def _rows(context: PageContext, entity: str, text: str | None) -> tuple[int, list[listing.ListRow]]:
    """How many lists of a kind a search finds, and rows of the first of them."""
    kind = KINDS[entity]
    search = {"search": text} if text else {}
    page = context.deals.list(kind.model, limit=MOST, ordering="name", **search)
    rows = []
    for entry_list in page.results:
        entries = kind.entries(entry_list)
        texts = (entry_list.name or "", number(len(entries)), ", ".join(entries[:5]), str(entry_list.id))
        rows.append(listing.ListRow(f"{entity}-{entry_list.id}", tuple(map(listing.ListCell, texts))))
    return page.count, rows


def _kind_title(entity: str) -> str:
    return supply_files.TITLE if entity == supply_files.ENTITY else KINDS[entity].title


def _create(context: PageContext, entity: str) -> None:
    state, kind = st.session_state, KINDS[entity]
    name = (state.get(f"{NEW}_name") or "").strip()
    state.pop(f"{NEW}_problem", None)
    if not name:
        state[f"{NEW}_problem"] = "Type a name."
        return
    fields: dict[str, Any] = {"name": name, kind.word: ()}
    key = state.setdefault(f"{NEW}_key", str(uuid.uuid4()))
    try:
        new_list = context.deals.create(kind.model, kind.model(**fields), key)
    except TrancheError as error:
        advice = "Check the list before you retry." if is_open(error) else "Nothing was created."
        if not is_open(error):
            del state[f"{NEW}_key"]
        state[f"{NEW}_problem"] = f"{error.sentence} {advice}"
        return
    del state[f"{NEW}_key"]
    catalog.forget()
    notes.say(f"{name} is created")
    state[NEW], state[f"{NEW}_name"] = False, ""
    address.write(OPEN, f"{entity}-{new_list.id}")


def _close() -> None:
    address.write(OPEN)
    st.session_state.pop(PROBLEM, None)


def _draw_file(context: PageContext, file: ImportedFile) -> None:
    with report_errors("The file", effect="Nothing was changed."):
        if supply_files.draw_file(context, file):
            _close()
            st.rerun()


def _content(context: PageContext, key: tuple[str, int]) -> None:
    with report_errors("The list", "What you typed is kept."):
        open_list = OpenList(context, key[0], context.deals.get(*key))
        does = catalog.abilities(context)
        may_change = not does.why_not(key[0], "change")
        notes.draw()
        draw_problem(PROBLEM)
        _draw_entries(open_list, may_change)
        if may_change:
            _draw_paste(open_list)
            st.session_state.setdefault(open_list.key("name"), open_list.entry_list.name or "")
            with st.container(horizontal=True, vertical_alignment="bottom"):
                st.text_input("Name", key=open_list.key("name"))
                st.button("Rename", key="list_rename", on_click=_rename, args=(open_list,))
        if not does.why_not(key[0], "delete"):
            popover = st.popover("Delete", icon=":material/delete:", key="list_delete", on_change="rerun")
            if not popover.open:
                return
            with popover:
                if users := dependants(
                    open_list.context.deals, (open_list.entity, open_list.entry_list.id or 0)
                ):
                    st.markdown(
                        f"**{len(users):d} packages use this list.** Remove it from their targeting first:"
                    )
                    st.markdown("\n".join(f"- {plain(user)}" for user in users))
                    return
                st.markdown("This can't be undone.")
                st.button(
                    "Delete list", type="primary", key="list_delete_sure", on_click=_delete, args=(open_list,)
                )


def _draw_entries(open_list: OpenList, may_change: bool) -> None:
    """Draw the entries, with a search, a download, and a button that removes those chosen."""
    entries, word = open_list.entries, open_list.kind.word
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            "Search entries", type="search", live="200ms", key=FIND, label_visibility="collapsed",
            placeholder=f"Search among {number(len(entries))} {word}",
        )  # fmt: skip
        downloads.offer(
            open_list.context, "Download", lambda _: "\r\n".join(entries),
            f"{open_list.entity}-{open_list.entry_list.id}.txt", "text/plain", "list_download",
            disabled=not entries,
        )  # fmt: skip
    if not entries:
        st.caption("No entries yet: the list selects nothing.")
        return
    matches = [entry for entry in entries if (text or "").strip().casefold() in entry.casefold()]
    _draw_table({word.capitalize(): matches[:MOST_ROWS]}, len(matches), 300, "Entries")
    more = f", the first {number(MOST_ROWS)} shown" if len(matches) > MOST_ROWS else ""
    st.caption(f"{number(len(matches))} of {number(len(entries))} {word}{more}")
    if may_change and text and matches and len(matches) < len(entries):
        label = f"Remove these {number(len(matches))}"
        st.button(
            label, icon=":material/remove:", key="list_remove", on_click=_remove,
            args=(open_list, tuple(matches)),
        )  # fmt: skip


def _draw_table(columns: dict[str, list[Any]], count: int, highest: int, alt: str) -> None:
    height = min(highest, 38 + 35 * max(1, count))
    st.dataframe(straighten(columns), hide_index=True, height=height, alt=alt)


def _draw_paste(open_list: OpenList) -> None:
    """Draw the field to paste entries. Unreadable entries are listed by line, and stay in it."""
    st.text_area(
        f"Add {open_list.kind.word}", key=open_list.key("paste"), height=120, persist_state="session",
        placeholder="Paste entries, one a line or separated by commas",
    )  # fmt: skip
    paste = read(st.session_state.get(open_list.key("paste")) or "", open_list.kind)
    new, broken = paste.new(open_list.entries), paste.broken
    if broken:
        st.markdown(f":red[{number(len(broken))} can't be read] and are not added:")
        columns: dict[str, list[Any]] = {
            "Line": [entry.line for entry in broken],
            "Entry": [entry.text for entry in broken],
            "Why": [entry.why for entry in broken],
        }
        _draw_table(columns, len(broken), 250, "Not readable")
    present = len(paste.entries) - len(new)
    parts = [f"{number(len(new))} new" if paste.entries else ""]
    parts += [f"{number(present)} already in the list" if present else ""]
    parts += [f"{number(paste.repeats)} pasted twice" if paste.repeats else ""]
    if sentence := ", ".join(filter(None, parts)):
        st.caption(sentence)
    label = f"Add {number(len(new))} {open_list.kind.word}" if new else f"Add {open_list.kind.word}"
    st.button(label, type="primary", key="list_add", on_click=_add, args=(open_list,))


def _add(open_list: OpenList) -> None:
    """Add the readable entries; the others stay in the field. A callback.

    It reads the field itself: what is pasted is known only once the click has left it.
    """
    paste = read(st.session_state.get(open_list.key("paste")) or "", open_list.kind)
    new = paste.new(open_list.entries)
    if not new:
        notes.say("Paste new entries first")
    elif open_list.change({open_list.kind.word: [*open_list.entries, *new]}, f"{number(len(new))} added"):
        st.session_state[open_list.key("paste")] = paste.rest


def _remove(open_list: OpenList, some: tuple[str, ...]) -> None:
    rest = [entry for entry in open_list.entries if entry not in set(some)]
    if open_list.change({open_list.kind.word: rest}, f"{number(len(some))} removed"):
        st.session_state[FIND] = ""


def _rename(open_list: OpenList) -> None:
    name = (st.session_state[open_list.key("name")] or "").strip()
    if not name:
        st.session_state[PROBLEM] = "Type a name. Nothing was changed."
    elif name != open_list.entry_list.name:
        open_list.change({"name": name}, "Renamed")


def dependants(client: Deals, key: tuple[str, int]) -> list[str]:
    """The packages that target or exclude the list, by name and id."""
    name, field = client.get(*key).name or "", KINDS[key[0]].targeting
    packages = client.everything(SupplyPackage, search=name, ordering="id") if client.abilities.finds else ()
    return [
        f"{package.name} ({package.id})"
        for package in packages
        if any(target.id == key[1] for target in getattr(package, field))
    ]


def _delete(open_list: OpenList) -> None:
    number, etag = open_list.entry_list.id or 0, open_list.entry_list.etag

    def remove() -> None:
        with suppress(NotFound):  # somebody else deleted it
            open_list.context.deals.remove(open_list.entity, number, etag)

    if not attempt_write(PROBLEM, remove):
        return
    _close()
    catalog.forget()
    notes.say(f"{open_list.entry_list.name} is deleted")
    st.rerun()


def read(text: str, kind: ListKind) -> Paste:
    """One entry a line, or several with commas, semicolons or tabs between; empty lines count as lines."""
    unique: dict[str, None] = {}
    broken: list[BrokenEntry] = []
    repeats = 0
    for line_number, line in enumerate(text.splitlines(), start=1):
        for part in filter(None, (part.strip().strip("\"'").strip() for part in SEPARATORS.split(line))):
            try:
                entry = kind.normalize(part)
            except ValueError as error:
                broken.append(BrokenEntry(line_number, part, str(error)))
                continue
            repeats += entry in unique
            unique[entry] = None
    return Paste(tuple(unique), tuple(broken), repeats)
