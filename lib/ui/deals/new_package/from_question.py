"""From a question to the form: the values that its filters keep become the targeting of a new package."""

import uuid
from dataclasses import replace

import streamlit as st

from lib.deals.models import AppList, DomainList, Targeting
from lib.deals.package_questions import PackageQuestion
from lib.insight.filters import entries
from lib.insight.from_filters import FromFilters, NewList, from_filters
from lib.ui.deals import catalogue, permission
from lib.ui.deals.new_package import state
from lib.ui.deals.targeting import picker, words
from lib.ui.kit import screens
from lib.ui.kit.frame import Here
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import reported
from lib.ui.query import ask, filter_words, periods, question
from lib.wire.errors import TrancheError

POPOVER, WIDTH = "package_from", 420
LISTED, LONGEST_NAME = 5, 200
KINDS: dict[str, tuple[str, type[DomainList] | type[AppList], str]] = {
    "domain_list": ("domain_lists", DomainList, "domains"),
    "app_list": ("app_lists", AppList, "apps"),
}
HOW = (
    "Keep some rows first: click values of a leaderboard or of the split, such as countries or site domains. "
    "They become filters, and the filters become the targeting."
)


def draw(here: Here) -> None:
    """Draw the popover, for those who may create packages."""
    if not here.now().deals.writes:
        return
    popover = st.popover(
        "New package", icon=":material/inventory_2:", type="tertiary", key=POPOVER, on_change="rerun",
        help="New package from the rows that this question keeps",
    )  # fmt: skip
    if not popover.open:
        return
    with popover, st.container(width=WIDTH), reported("The new package", kept="Your question is kept."):
        _content(here)


def asked(here: Here) -> PackageQuestion:
    """The question on screen with fixed days, so that it goes on to show the same."""
    query = question.current(here)
    start, end = periods.resolved(query.start_date, query.end_date, ask.today(here, query))
    params = {**question.whole(here), "start": start.isoformat(), "end": end.isoformat()}
    return PackageQuestion(here.project, here.slicer_name, params)


def _content(here: Here) -> None:
    if reason := permission.of(here).why_not("supply_deals", "create"):
        st.caption(f":material/lock: {plain(reason)}.")
        return
    query = question.current(here)
    found = from_filters(query.filters, here.slicer, entries(catalogue.lists(here)))
    if not found.is_empty:
        described = {**picker.described(here, query, found.targeting), **_list_names(here)}
        st.markdown(f"Targeting: **{plain(_sentence(found, described))}**")
    for one in found.left_out:
        left_out = filter_words.sentence(one.filter, here.slicer)
        st.caption(f":material/info: Left out: {plain(left_out)} ({plain(one.why)}).")
    if found.is_empty:
        st.caption(HOW)
        return
    _open(here, found)


def _list_names(here: Here) -> dict[str, dict[str, str]]:
    """The names of lists, by what a target without a name is called."""
    named = catalogue.named_lists(here)
    return {kind: {f"list {number}": name for number, name in of.items()} for kind, of in named.items()}


def _sentence(found: FromFilters, described: words.Described) -> str:
    parts = [] if found.targeting == Targeting() else [words.sentence(found.targeting, LISTED, described)]
    parts += [f"{'not ' * one.is_excluded}{_counted(one)}" for one in found.lists]
    return " · ".join([*parts, *([found.media_type] if found.media_type else [])])


def _counted(one: NewList) -> str:
    word = KINDS[one.kind.name][2]
    return f"{len(one.entries)} {word[:-1] if len(one.entries) == 1 else word}"


def _open(here: Here, found: FromFilters) -> None:
    """Draw the names of lists to create, and the button that opens the form."""
    does = permission.of(here)
    refused = [reason for one in found.lists if (reason := does.why_not(KINDS[one.kind.name][0], "create"))]
    if refused:
        st.caption(f":material/lock: The {_counted(found.lists[0])} need a list. {plain(refused[0])}.")
        found = replace(found, lists=())
    names = [_name(here, place, one) for place, one in enumerate(found.lists)]
    if state.is_held(here.clients.drafts, catalogue.named_lists(here)):
        st.caption(":material/warning: New package holds an unfinished draft. This will replace it.")
    if found.is_empty or not st.button("Open New package", type="primary", key=f"{POPOVER}_open"):
        return
    if not all(names):
        st.error("Name the list first. Nothing was created.", icon=":material/error:")
        return
    try:
        ids = [_list(here, one, name) for one, name in zip(found.lists, names, strict=True)]
    except TrancheError as error:
        st.error(f"{plain(error.reason.rstrip('.'))}. Your question is kept.", icon=":material/error:")
        return
    state.fill_from(found.with_lists(ids), found.media_type, asked(here))
    st.switch_page(screens.NEW_PACKAGE, query_params={})


def _name(here: Here, place: int, one: NewList) -> str:
    """Draw the field for the name of a list that has to be created."""
    word = KINDS[one.kind.name][2]
    name = st.text_input(
        f"Name of the new {plain(one.kind.title.lower())}", f"{_counted(one)} of {here.slicer_name}",
        key=f"{POPOVER}_name_{place}", max_chars=LONGEST_NAME,
        help=f"A package is restricted to {word} by a list. No list has exactly these yet",
    )  # fmt: skip
    return name.strip()


def _list(here: Here, one: NewList, name: str) -> int:
    """Create the list, once: with the same name and entries it has the same key."""
    entity, kind, field = KINDS[one.kind.name]
    key = str(uuid.uuid5(uuid.NAMESPACE_OID, "\n".join((here.person.username, entity, name, *one.entries))))
    made = catalogue.client(here).create(kind, kind(**{"name": name, field: one.entries}), key)
    catalogue.forget()
    return made.id or 0
