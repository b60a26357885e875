"""From Audience to Deals: the drawer of the one deal that is kept, and the filters as a new package."""

import uuid
from dataclasses import replace
from typing import Any

import streamlit as st

from lib.deals.models import Targeting
from lib.deals.package_records import PackageQuestion
from lib.deals.targeting.from_filters import FromFilters, NewList, from_filters
from lib.figures.deals import list_kinds, targeting_text
from lib.figures.deals.deal_names import KINDS
from lib.figures.deals.list_kinds import ListKind
from lib.figures.query import filters
from lib.reporting import named_days
from lib.reporting.models import AudienceQuery
from lib.slicers.roles import DEAL, PACKAGE, tells_deals
from lib.ui.deals import catalog
from lib.ui.deals.new_package import state
from lib.ui.kit import screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.query import history
from lib.ui.query.bar import MORE_WIDTH
from lib.wire.errors import TrancheError
from lib.wire.text import count_of

LONGEST_ID = 15
ENTITIES = {DEAL: "demand_deals", PACKAGE: "supply_deals"}
FORM = "package_from"
MOST_NAMES = 5
HOW = (
    "Keep some rows first: click values of a leaderboard or of the split, such as countries or site domains. "
    "They become filters, and the filters become the targeting."
)


def draw_link(context: PageContext) -> None:
    """Draw a link for the one deal that the question keeps, else for the one package."""
    if not (context.now().deals.reads and tells_deals(context.slicer)):
        return
    query = history.current(context).query
    for name, entity in ENTITIES.items():
        if (number := only(query, name)) is not None:
            st.page_link(
                screens.DEALS, label=f"Open {KINDS[entity].lower()}", icon=":material/handshake:",
                help="Its delivery, its health and what can be changed, in Deals",
                query_params={"deals_kind": f"{KINDS[entity]}s", "open": f"{entity}-{number}"},
            )  # fmt: skip
            return


def only(query: AudienceQuery, name: str) -> int | None:
    """The one id that the filters keep of this key field; None where they keep others, or any."""
    filters = [audience_filter for audience_filter in query.filters if audience_filter.name == name]
    if len(filters) != 1 or filters[0].match != "equals" or len(filters[0].value) != 1:
        return None
    text = filters[0].value[0]
    is_id = text.isascii() and text.isdigit() and len(text) <= LONGEST_ID and text[0] != "0"
    return int(text) if is_id else None


def draw_package(context: PageContext) -> None:
    """Draw a popover for those who may create packages: one from the rows that the filters keep."""
    query = history.current(context).query
    if not (context.now().deals.writes and (query.filters or query.any_of)):
        return
    label, icon = "New package", ":material/package_2:"
    popover = st.popover(label, icon=icon, type="tertiary", key=FORM, on_change="rerun")
    if popover.open:
        with popover, st.container(width=MORE_WIDTH):
            _draw_targeting(context)


def package_question(context: PageContext) -> PackageQuestion:
    """The question on screen with fixed days, so that it goes on to show the same."""
    query = history.current(context).query
    start, end = named_days.days_of(query, context.slicer)
    params = {**history.current(context).params, "start": start.isoformat(), "end": end.isoformat()}
    return PackageQuestion(context.project, context.slicer_name, params)


@report_errors("The new package", effect="Your question is kept.")
def _draw_targeting(context: PageContext) -> None:
    if reason := catalog.abilities(context).why_not("supply_deals", "create"):
        st.caption(f":material/lock: {plain(reason)}.")
        return
    query = history.current(context).query
    translation = from_filters(query.filters, context.slicer, catalog.list_entries(context))
    if not translation.is_empty:
        # The names of lists, by what a target without a name is called.
        list_names = {
            kind: {f"list {number}": name for number, name in names.items()}
            for kind, names in catalog.named_lists(context).items()
        }
        targeting = translation.targeting
        descriptions = {**targeting_text.describe(context, query, targeting), **list_names}
        parts = []
        if targeting != Targeting():
            parts.append(targeting_text.sentence(targeting, MOST_NAMES, descriptions))
        parts += [f"{'not ' * new.is_excluded}{_count_label(new)}" for new in translation.lists]
        parts += [translation.media_type] if translation.media_type else []
        st.markdown(f"Targeting: **{plain(' · '.join(parts))}**")
    for part in translation.left_out:
        left_out = filters.sentence(part.filter, context.slicer)
        st.caption(f":material/info: Left out: {plain(left_out)} ({plain(part.why)}).")
    for group in query.any_of:
        left_out = filters.group_sentence(group, context.slicer)
        st.caption(f":material/info: Left out: {plain(left_out)} (a targeting can't join fields by OR).")
    if translation.is_empty:
        st.caption(HOW)
        return
    _open(context, translation)


def _count_label(new_list: NewList) -> str:
    return count_of(len(new_list.entries), _kind(new_list).word.removesuffix("s"))


def _open(context: PageContext, from_filters: FromFilters) -> None:
    does = catalog.abilities(context)
    refusals = [
        reason
        for new_list in from_filters.lists
        if (reason := does.why_not(_kind(new_list).model.entity, "create"))
    ]
    if refusals:
        st.caption(
            f":material/lock: The {_count_label(from_filters.lists[0])} need a list. {plain(refusals[0])}."
        )
        from_filters = replace(from_filters, lists=())
    names = []
    for index, new_list in enumerate(from_filters.lists):
        name = st.text_input(
            f"Name of the new {plain(new_list.kind.title.lower())}",
            f"{_count_label(new_list)} of {context.slicer_name}",
            key=f"{FORM}_name_{index}",
            help=f"A package is restricted to {_kind(new_list).word} by a list. None has exactly these yet",
        )  # fmt: skip
        names.append(name.strip())
    if state.is_held(context):
        st.caption(":material/warning: New package holds an unfinished draft. This will replace it.")
    if from_filters.is_empty or not st.button("Open New package", type="primary", key=f"{FORM}_open"):
        return
    if not all(names):
        st.error("Name the list first. Nothing was created.", icon=":material/error:")
        return
    ids = []
    try:
        for new_list, name in zip(from_filters.lists, names, strict=True):
            # Created once: with the same name and entries it has the same key.
            kind = _kind(new_list)
            parts = (context.person.username, kind.model.entity, name, *new_list.entries)
            key = str(uuid.uuid5(uuid.NAMESPACE_OID, "\n".join(parts)))
            fields: dict[str, Any] = {"name": name, kind.word: new_list.entries}
            ids.append(context.deals.create(kind.model, kind.model(**fields), key).id or 0)
            catalog.forget()
    except TrancheError as error:
        st.error(f"{plain(error.sentence)} Your question is kept.", icon=":material/error:")
        return
    state.fill_from(from_filters.with_lists(ids), from_filters.media_type, package_question(context))
    st.switch_page(screens.NEW_PACKAGE, query_params={})


def _kind(new_list: NewList) -> ListKind:
    return list_kinds.KINDS[f"{new_list.kind.name}s"]
