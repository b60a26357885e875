"""The frame of every screen: the person, the project and slicer chosen."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.deals.client import Deals
from lib.figures.context import NO_SLICER, RequestContext
from lib.figures.numbers import FORMATS
from lib.people import Person
from lib.reporting.client import Reporting
from lib.serving import connect
from lib.serving.front.overview_route import NUMBERS_COOKIE, ZONE_COOKIE
from lib.settings import Settings
from lib.ui import streamlit_compat
from lib.ui.kit import page_scripts, problems, reader, retry, screens, session_cache, sign_in, slicer_info
from lib.ui.kit.markdown import plain
from lib.ui.kit.sign_in_methods import TO_TRY
from lib.wire.errors import TrancheError

CONTEXT = "page_context"
Cache = TypeVar("Cache")


@dataclass(frozen=True)
class PageContext(RequestContext):
    """A screen's: the slicer chosen in the header, and the person and their clients as they are now.

    A fragment, a drawer or a callback has the context of the run before it.
    """

    slot: DeltaGenerator | None = field(default=None, compare=False, repr=False)

    @property
    def row(self) -> AbstractContextManager[object]:
        """What is drawn inside stands beside the pickers, on the header's line."""
        return nullcontext() if self.slot is None else self.slot

    @property
    def reporting(self) -> Reporting:
        """The client of the reporting API, for as long as the person is signed in as they were.

        Take it on the script's thread: what makes a download has it from `without_session`.
        """
        if self.now() != self.person:
            st.rerun()
        return self.drawn_with.reporting

    @property
    def clients(self) -> connect.Clients:
        """The clients of the person with the role and grants that they have now.

        A callback has the context of the run before it, and its person may have lost rights meanwhile. A
        thread has no session: it gets those that the screen was drawn with.
        """
        if not streamlit_compat.is_script():
            return self.drawn_with
        now = self.now()
        return self.drawn_with if now == self.person else connect.connect(now, Settings.current())

    @property
    def deals(self) -> Deals:
        """The client of the deals API, as `clients`, but never in a thread.

        Our own service looks at role and grants anyhow; for a remote one the desk does.
        """
        self.now()
        return self.clients.deals

    def now(self) -> Person:
        """The person with their current role and grants; sends people who are signed out to the sign-in.

        A fragment, a drawer or a callback runs without the rest of the script, which checks that. Raises
        RuntimeError in a thread, which has no session.
        """
        person = sign_in.person()
        if person is None:
            st.rerun()  # does nothing in a thread
            raise RuntimeError("A thread has no session: get the client before starting it")
        return person

    def without_session(self) -> RequestContext:
        """The same for a thread, which has no session; a person whose rights changed gets a new page."""
        if self.now() != self.person:
            st.rerun()
        return RequestContext(
            self.person, self.project, self.slicer_name, self.slicer, self.drawn_with, self.trouble,
            self.is_missing, self.locale or "", self.own_zone,
        )  # fmt: skip

    @property
    def locale(self) -> str | None:
        """The language in which numbers are written for the reader, such as `de-CH`."""
        return reader.locale()

    @property
    def own_zone(self) -> str:
        """The time zone in which the reader's new questions ask; empty: in the slicer's."""
        return reader.own_zone()

    def cache(self, name: str, make: Callable[[], Cache]) -> Cache:
        """What is cached in the session under this name; `make` creates it empty."""
        return session_cache.of(name, make)


def signed_in() -> PageContext:
    """The first call of every page and its only way to data; stops at the sign-in if nobody is signed in."""
    person = sign_in.person()
    if person is None:
        sign_in.form()
        st.stop()
    context: PageContext | None = st.session_state.get(CONTEXT)
    return context if context is not None and context.person == person else header(person)


def with_slicer(context: PageContext) -> PageContext:
    """For screens about a slicer: shows a message and stops if there is none, or if it can't be loaded."""
    if not context.clients.slicers:
        if not context.clients.reporting_address:
            try:
                context.clients.reporting.slicers()
            except TrancheError as error:
                st.error(plain(error.sentence), title="No slicers", icon=":material/error:")
                st.stop()
        ending = "has no slicers yet" if context.person.role == "admin" else "has none that you can see"
        st.info(f"This installation {ending}.", title="No slicers", icon=":material/database:")
        st.stop()
    if context.is_missing:
        sentence = slicer_info.missing_sentence(context.project, context.slicer_name)
        st.warning(plain(sentence), icon=":material/link_off:")
        st.stop()
    if context.slicer is NO_SLICER:
        # Wait for the slicer; then rerun, or show why it can't be loaded.
        trouble, what = context.trouble, f"The slicer {context.slicer_name} of {context.project}"
        if trouble is None:
            trouble = slicer_info.wait_for_slicer(
                context.person.username, context.project, context.slicer_name
            ).trouble
        if trouble is None:
            retry.note_success(what)
            st.rerun()
        problems.show(trouble, what, "Your question is kept in the address of this page.")
        st.stop()
    return context


def header(
    person: Person, mark: Callable[[connect.Clients], None] | None = None, has_pickers: bool = True
) -> PageContext:
    """Draw the pickers, the sentence on the data, whatever `mark` draws beside it, and the person's menu.

    Between the pickers is room for what a screen asks (PageContext.row). A screen that no
    slicer changes hides them.
    """
    retry.begin()
    settings = Settings.current()
    clients = connect.connect(person, settings, streamlit_compat.session_id())
    with st.container(horizontal=True, vertical_alignment="center", key="frame"):
        with nullcontext() if has_pickers else st.container(key="no_pickers"):
            pair, is_missing = slicer_info.draw_pickers(clients.slicers) if clients.slicers else (None, False)
        slot = st.container(key="slot")
        with st.container(horizontal=True, vertical_alignment="center", key="status"):
            sentence = st.container(width="content")
            if mark is not None:
                mark(clients)
            if settings.demo:
                st.badge("Demo", icon=":material/science:", color="orange", help=TO_TRY)
            _draw_menu(person)
    if pair is None:
        context = PageContext(person, "", "", NO_SLICER, clients, slot=slot)
    elif is_missing:
        context = PageContext(person, *pair, NO_SLICER, clients, is_missing=True, slot=slot)
        sentence.caption(plain(context.freshness))
    else:
        cached_slicer = slicer_info.open_slicer(clients, person.username, *pair)
        slicer = cached_slicer.slicer
        if slicer is not NO_SLICER:
            slicer = clients.with_own(slicer, *pair)
        context = PageContext(person, *pair, slicer, clients, cached_slicer.trouble, slot=slot)
        sentence.caption(plain(context.freshness))
        if cached_slicer.is_awaited:
            slicer_info.look_out(person.username, *pair)
    st.session_state[CONTEXT] = context
    return context


def heading(title: str) -> None:
    """Draw the screen's name as h1 for screen readers; sighted people see it in the navigation."""
    with st.container(key="heading"):
        st.title(plain(title), anchor=False)


CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
MENU = "person_menu"
TOKENS, READER, NEWS, SIGN_OUT = "Your tokens", "Numbers and time zone", "What's new", "Sign out"
NUMBERS, ZONE = "reader_numbers", "reader_zone"
THEMES = {"Light colors": "Light", "Dark colors": "Dark", "Colors of the system": ""}


def _draw_menu(person: Person) -> None:
    """Draw the person's menu, and do what was chosen in it."""
    choice = st.menu_button(
        plain(person.name), [TOKENS, READER, *THEMES, NEWS, SIGN_OUT], icon=":material/person:",
        type="tertiary", key=MENU, on_click=_sign_out,
    )  # fmt: skip
    if choice == TOKENS:
        st.switch_page(screens.ACCESS, query_params={})
    if choice == READER:
        _draw_reader()
    if choice == NEWS:
        _show_news()
    if choice in THEMES:
        page_scripts.set_theme(THEMES[choice])


def _sign_out() -> None:
    """In the callback: the script that follows shows the sign-in."""
    if st.session_state[MENU] == SIGN_OUT:
        sign_in.sign_out()


@st.dialog(READER)
def _draw_reader() -> None:
    """The choice of how figures are written, and of the zone in which new questions ask."""
    numbers = st.selectbox(
        "Numbers", ["", *FORMATS],
        ["", *FORMATS].index(reader.language()),
        format_func=lambda language: FORMATS.get(language, "As the browser's language writes them"),
        key=NUMBERS,
        help="How figures on screen are written. What you type and what you download stay as they are.",
    )  # fmt: skip
    titles = {"": "The slicer's own", **reader.zone_titles()}
    zone = st.selectbox(
        "Time zone of new questions", titles, [*titles].index(reader.own_zone()), key=ZONE,
        format_func=titles.__getitem__, filter_mode="contains", placeholder=reader.FIND_ZONE,
        help="For slicers whose rows are hours. Links and views keep the time zone that they were made in.",
    )  # fmt: skip
    if st.button("Save", type="primary", key="reader_save"):
        page_scripts.set_cookies({NUMBERS_COOKIE: numbers, ZONE_COOKIE: zone})


@st.dialog(NEWS, width="large")
def _show_news() -> None:
    """The newest part of the changelog; without its links, which lead to files of the project."""
    parts = CHANGELOG.read_text("utf-8").split("\n## ")
    st.markdown("#### " + LINK.sub(r"\1", parts[1]).replace("\n### ", "\n##### "))
