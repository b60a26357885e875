"""The drawer of a list: its entries, a field to paste more, its name and dependants."""

import re
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import AppList, DomainList, SupplyPackage
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import catalogue
from lib.ui.kit import notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors, show
from lib.ui.kit.straight import straighten
from lib.wire.errors import NotFound, TrancheError

DOMAIN = re.compile(r"([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}")
SEPARATORS = re.compile(r"[,;\t]")
LONGEST_APP, LONGEST_DOMAIN = 200, 253


@dataclass(frozen=True)
class Broken:
    """An entry that can't be read: its line (from 1), as it was pasted, and why."""

    line: int
    text: str
    why: str


@dataclass(frozen=True)
class Pasted:
    """Parsed entries in order without repeats, those that can't be read, and the number of repeats."""

    entries: tuple[str, ...]
    broken: tuple[Broken, ...]
    repeated: int

    def new(self, known: Iterable[str]) -> list[str]:
        """The entries that are not known yet."""
        there = set(known)
        return [one for one in self.entries if one not in there]

    @property
    def left(self) -> str:
        """The entries that can't be read, a line each, to be corrected."""
        return "\n".join(one.text for one in self.broken)


def read(text: str, kind: type[DomainList] | type[AppList]) -> Pasted:
    """One entry a line, or several with commas, semicolons or tabs between; empty lines count as lines."""
    normalise: Callable[[str], str] = domain if kind is DomainList else app
    found: dict[str, None] = {}
    broken: list[Broken] = []
    repeated = 0
    for number, line in enumerate(text.splitlines(), start=1):
        for part in filter(None, (part.strip().strip("\"'").strip() for part in SEPARATORS.split(line))):
            try:
                entry = normalise(part)
            except ValueError as error:
                broken.append(Broken(number, part, str(error)))
                continue
            repeated += entry in found
            found[entry] = None
    return Pasted(tuple(found), tuple(broken), repeated)


def domain(text: str) -> str:
    """`https://Example.org/news` → `example.org`; ValueError says what is wrong."""
    host = urlsplit(text if "//" in text else f"//{text}").hostname or ""
    host = host.rstrip(".")
    try:
        plain = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        raise ValueError("Not a domain name") from None
    if "." not in plain:
        raise ValueError("Not a domain name: it has no dot")
    if len(plain) > LONGEST_DOMAIN or not DOMAIN.fullmatch(plain):
        raise ValueError("Not a domain name")
    if plain.rpartition(".")[2].isdigit():
        raise ValueError("An IP address, not a domain name")
    return plain


def app(text: str) -> str:
    """A bundle or a store's number as it is; ValueError says what is wrong."""
    if any(one.isspace() for one in text):
        raise ValueError("An app id has no spaces")
    if not text.isprintable() or len(text) > LONGEST_APP:
        raise ValueError("Not an app id")
    return text


OPEN, WIDTH, SHOWN = "list", 720, 1_000
KINDS: dict[str, type[DomainList] | type[AppList]] = {"domain_lists": DomainList, "app_lists": AppList}
FIELDS = {"domain_lists": "domains", "app_lists": "apps"}
WORDS = {"domain_lists": "domains", "app_lists": "apps"}
ADDRESS = re.compile(r"(domain_lists|app_lists)-([1-9][0-9]{0,15})")
PASTE, NAME, FIND, PROBLEM = "list_paste_{}", "list_name_{}", "list_find", "list_problem"
List = DomainList | AppList


def open_list() -> tuple[str, int] | None:
    """The list that is open, by the URL."""
    match = ADDRESS.fullmatch(st.query_params.get(OPEN, ""))
    return (match[1], int(match[2])) if match else None


def close() -> None:
    """Close the drawer. A callback."""
    st.query_params.pop(OPEN, None)
    st.session_state.pop(PROBLEM, None)


def entries_of(one: List) -> tuple[str, ...]:
    """The domains or apps of a list."""
    return one.domains if isinstance(one, DomainList) else one.apps


def draw(context: PageContext) -> None:
    """Draw the drawer of the open list, if any."""
    key = open_list()
    if key is None:
        return
    try:
        found = context.deals.get(KINDS[key[0]], key[1])
    except NotFound:
        close()
        st.warning(f"List {key[1]:d} no longer exists.", icon=":material/link_off:")
        return
    except TrancheError as error:
        show(error, "The list", "Nothing was changed.")
        return
    dialog = st.dialog(
        plain(found.name or f"List {key[1]}"), position="right", width=WIDTH, icon=":material/list_alt:",
        on_dismiss=close,
    )  # fmt: skip
    dialog(_content)(context, key)


def _content(context: PageContext, key: tuple[str, int]) -> None:
    with report_errors("The list", "What you typed is kept."):
        found = context.deals.get(KINDS[key[0]], key[1])
        may_change = not catalogue.abilities(context).why_not(key[0], "change")
        notes.draw()
        if said := st.session_state.pop(PROBLEM, None):
            st.error(plain(said), icon=":material/error:")
        _entries(context, key, found, may_change)
        if may_change:
            _paste(context, key, found)
            _rename(context, key, found)
        if not catalogue.abilities(context).why_not(key[0], "delete"):
            _delete(context, key, found)


def _entries(context: PageContext, key: tuple[str, int], found: List, may_change: bool) -> None:
    """Draw the entries, with a search, a download, and a button that removes those chosen."""
    numbers, everything = Numbers.of(st.context.locale), entries_of(found)
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            "Search entries", type="search", live="200ms", key=FIND, label_visibility="collapsed",
            placeholder=f"Search among {numbers.number(len(everything))} {WORDS[key[0]]}",
        )  # fmt: skip
        st.download_button(
            "Download", data="\r\n".join(everything), file_name=f"{key[0]}-{key[1]}.txt", mime="text/plain",
            icon=":material/download:", on_click="ignore", key="list_download", disabled=not everything,
        )  # fmt: skip
    shown = [one for one in everything if (text or "").strip().casefold() in one.casefold()]
    if not everything:
        st.caption("No entries yet: the list selects nothing.")
        return
    table = {WORDS[key[0]].capitalize(): shown[:SHOWN]}
    st.dataframe(
        straighten(table), hide_index=True, height=min(300, 38 + 35 * max(1, len(shown))), alt="Entries"
    )
    more = f", the first {numbers.number(SHOWN)} shown" if len(shown) > SHOWN else ""
    st.caption(f"{numbers.number(len(shown))} of {numbers.number(len(everything))} {WORDS[key[0]]}{more}")
    if may_change and text and shown and len(shown) < len(everything):
        label = f"Remove these {numbers.number(len(shown))}"
        st.button(
            label,
            icon=":material/remove:",
            key="list_remove",
            on_click=_remove,
            args=(context, key, found, tuple(shown)),
        )


def _paste(context: PageContext, key: tuple[str, int], found: List) -> None:
    """Draw the field to paste entries. Unreadable entries are listed by line, and stay in it."""
    numbers = Numbers.of(st.context.locale)
    field = PASTE.format(f"{key[0]}-{key[1]}")
    st.text_area(
        f"Add {WORDS[key[0]]}", key=field, height=120, persist_state="session",
        placeholder="Paste entries, one a line or separated by commas",
    )  # fmt: skip
    pasted = _parse_paste(key)
    new = pasted.new(entries_of(found))
    known = len(pasted.entries) - len(new)
    if pasted.broken:
        st.markdown(f":red[{numbers.number(len(pasted.broken))} can't be read] and are not added:")
        broken = {
            "Line": [one.line for one in pasted.broken],
            "Entry": [one.text for one in pasted.broken],
            "Why": [one.why for one in pasted.broken],
        }
        st.dataframe(
            straighten(broken),
            hide_index=True,
            height=min(250, 38 + 35 * len(pasted.broken)),
            alt="Not readable",
        )
    parts = [f"{numbers.number(len(new))} new" if pasted.entries else ""]
    parts += [f"{numbers.number(known)} already in the list" if known else ""]
    parts += [f"{numbers.number(pasted.repeated)} pasted twice" if pasted.repeated else ""]
    if sentence := ", ".join(filter(None, parts)):
        st.caption(sentence)
    label = f"Add {numbers.number(len(new))} {WORDS[key[0]]}" if new else f"Add {WORDS[key[0]]}"
    st.button(label, type="primary", key="list_add", on_click=_add, args=(context, key, found))


def _count_label(some: Sized) -> str:
    return Numbers.of(st.context.locale).number(len(some))


def _parse_paste(key: tuple[str, int]) -> Pasted:
    """The parsed content of the field."""
    return read(st.session_state.get(PASTE.format(f"{key[0]}-{key[1]}")) or "", KINDS[key[0]])


def _add(context: PageContext, key: tuple[str, int], found: List) -> None:
    """Add the readable entries; the others stay in the field. A callback.

    It reads the field itself: what is pasted is known only once the click has left it.
    """
    pasted = _parse_paste(key)
    new = pasted.new(entries_of(found))
    if not new:
        notes.say("Paste new entries first")
    elif _change(
        context, key, found, {FIELDS[key[0]]: [*entries_of(found), *new]}, f"{_count_label(new)} added"
    ):
        st.session_state[PASTE.format(f"{key[0]}-{key[1]}")] = pasted.left


def _remove(context: PageContext, key: tuple[str, int], found: List, some: tuple[str, ...]) -> None:
    """Remove these entries. A callback."""
    kept = [one for one in entries_of(found) if one not in set(some)]
    if _change(context, key, found, {FIELDS[key[0]]: kept}, f"{_count_label(some)} removed"):
        st.session_state[FIND] = ""


def _rename(context: PageContext, key: tuple[str, int], found: List) -> None:
    field = NAME.format(f"{key[0]}-{key[1]}")
    st.session_state.setdefault(field, found.name or "")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Name", key=field, max_chars=200)
        st.button("Rename", key="list_rename", on_click=_rename_it, args=(context, key, found, field))


def _rename_it(context: PageContext, key: tuple[str, int], found: List, field: str) -> None:
    """Rename the list to the content of the field. A callback."""
    name = (st.session_state[field] or "").strip()
    if not name:
        st.session_state[PROBLEM] = "Type a name. Nothing was changed."
    elif name != found.name:
        _change(context, key, found, {"name": name}, "Renamed")


def _change(
    context: PageContext, key: tuple[str, int], found: List, fields: dict[str, Any], done: str
) -> bool:
    """Change the list unless somebody else did; errors are shown in the drawer. True if it worked."""
    try:
        context.deals.change(*key, fields, found.etag)
    except TrancheError as error:
        st.session_state[PROBLEM] = f"{error.reason.rstrip('.')}. Nothing was changed."
        return False
    finally:
        catalogue.forget()
    notes.say(done)
    return True


def _delete(context: PageContext, key: tuple[str, int], found: List) -> None:
    """Draw the packages that depend on the list; without any, the button that deletes it."""
    popover = st.popover("Delete", icon=":material/delete:", key="list_delete", on_change="rerun")
    if not popover.open:
        return
    with popover:
        users = dependants(context.deals, key)
        if users:
            st.markdown(f"**{len(users):d} packages use this list.** Remove it from their targeting first:")
            st.markdown("\n".join(f"- {plain(one)}" for one in users))
            return
        st.markdown("This can't be undone.")
        st.button(
            "Delete list", type="primary", key="list_delete_sure", on_click=_gone, args=(context, key, found)
        )


def dependants(client: Deals, key: tuple[str, int]) -> list[str]:
    """The packages that target or exclude the list, by name and id."""
    field = "domain_list_targetings" if key[0] == "domain_lists" else "app_list_targetings"
    name = client.get(KINDS[key[0]], key[1]).name or ""
    found = client.everything(SupplyPackage, search=name, ordering="id") if client.abilities.finds else ()
    return [
        f"{one.name} ({one.id})" for one in found if any(part.id == key[1] for part in getattr(one, field))
    ]


def _gone(context: PageContext, key: tuple[str, int], found: List) -> None:
    """Delete the list. A callback."""
    try:
        context.deals.remove(*key, found.etag)
    except TrancheError as error:
        if not isinstance(error, NotFound):
            st.session_state[PROBLEM] = f"{error.reason.rstrip('.')}."
            return
    close()
    catalogue.forget()
    notes.say(f"{found.name} is deleted")
    st.rerun()
