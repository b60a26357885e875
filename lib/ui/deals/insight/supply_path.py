"""The supply path of a package in its facts and in forms, and the filter of the list by it.

Nothing of it is drawn until a sellers.json is imported: without one, nothing is known of any site.
"""

from functools import partial

import streamlit as st

from lib.deals.delivery import PERIODS
from lib.deals.fields import DEALS
from lib.deals.models import SupplyPackage, Targeting
from lib.deals.supply.states import AUTHORIZED, WORDS, State, SupplyIndex
from lib.deals.targeting.filters import Lists, report_filters
from lib.figures import numbers
from lib.figures.caches import SessionCache
from lib.figures.deals import deal_report
from lib.figures.numbers import Numbers
from lib.insight import SupplyPath
from lib.slicers.roles import BIDS, DEAL, IMPRESSIONS, PACKAGE, field_of
from lib.ui.deals import catalog, counts
from lib.ui.deals.insight import report
from lib.ui.kit import session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import report_errors
from lib.wire.filters import Filter
from lib.wire.text import and_more

INDEX = "supply_index"
SECONDS = 30.0
MOST_ROWS = 300
MOST_NAMES = 3
MOST_RESULTS, LEAST = 500, 1
"""The most packages or deals that a list finds by their ids, and the percent of bids from which it does."""
MEANING = (
    f"At least {LEAST} % of the bids of the last {PERIODS[0]} days are for sites or apps whose ads.txt or "
    "app-ads.txt does not authorize us."
)


def index(context: PageContext) -> SupplyIndex:
    """What sites and apps are judged by, as it was some seconds ago."""
    cache: SessionCache[SupplyIndex] = session_cache.of(INDEX, partial(SessionCache, SECONDS, 1))
    return cache.get((context.person.username,), context.clients.supply_files.index)


def forget() -> None:
    """Read it again: files were imported or removed."""
    session_cache.clear(INDEX, catalog.PAGES, catalog.HEALTH)


def draw_package(context: PageContext, package: SupplyPackage) -> None:
    """Draw the path of a package: of its own bids where a report tells packages apart, else of all bids that
    its targeting selects."""
    with report_errors("The supply path", effect="Nothing was changed."):
        if not index(context).systems:
            return
        lists = catalog.list_entries(context)
        if (deals_context := report.of_deals(context)) is not None:
            own = deal_report.insight(deals_context).only([package])
            draw(deals_context, "supply_facts", package, lists, own, "the package's bids")
        else:
            filters = report_filters(package, context.slicer, lists, package.media_type).filters
            draw(context, "supply_facts", package, lists, filters, "all bids of its targeting")


@st.fragment(parallel=True)
def draw(
    context: PageContext,
    place: str,
    targeting: Targeting,
    lists: Lists,
    filters: tuple[Filter, ...],
    whose: str,
    title: str = "",
) -> None:
    """Draw the sentence and the table of the sites and apps, once the report has answered for `filters`."""
    with report_errors("The supply path", effect="What you entered is kept."):
        supply_index, field = index(context), field_of(context.slicer, (*BIDS, *IMPRESSIONS))
        if not supply_index.systems:
            return
        if title:
            st.header(title, anchor=False)
        asking = deal_report.insight(context)
        lookup = asking.supply_path(
            supply_index, targeting, lists, filters, "" if field is None else field.name
        )
        answers = report.answers(context, place, lookup.queries, "the supply path")
        if answers is None:
            return
        note = "This slicer can't tell sites or apps."
        if answers:
            days = numbers.days(*asking.period(PERIODS[0]))
            exact = "Estimated from a sample" if answers[0].is_sampled else "Exact"
            exact = exact if answers[0].has_data else "The report has no data for these days"
            note = f"Of {whose}, {days}. From {context.project}/{context.slicer_name}. {exact}."
        path = lookup.read(answers)
        _draw_path(path, note, "" if title else "**Supply path** ")


def draw_lists(context: PageContext, targeting: Targeting) -> None:
    """Draw a warning beside the lists of a form, if sites or apps of theirs are not authorized."""
    with report_errors("The supply path", effect="What you entered is kept."):
        if not (supply_index := index(context)).systems:
            return
        lists = catalog.list_entries(context)
        path = deal_report.insight(context).supply_path(supply_index, targeting, lists).read([])
        if wrong := path.of("unauthorized"):
            share = f"{len(wrong):,} of {len(path.rows):,} in these lists"
            st.warning(
                plain(f"Not authorized: {and_more([row.name for row in wrong], MOST_NAMES)} ({share})."),
                icon=":material/gpp_maybe:",
            )


def sentence(path: SupplyPath, texts: Numbers) -> str:
    """`12 of 15 sites authorized (9 direct, 3 reseller), 2 not authorized (7.4 % of bids), 1 unknown.`"""
    by_state = [f"{len(rows):,} {state}" for state in AUTHORIZED if (rows := path.of(state))]
    kinds = {row.is_app for row in path.rows if row.name}
    noun = "sites and apps" if len(kinds) != 1 else "apps" if True in kinds else "sites"
    parts = [f"{len(path.of(*AUTHORIZED)):,} of {len(path.rows):,} {noun} authorized"]
    parts[0] += f" ({', '.join(by_state)})" if by_state else ""
    others: tuple[State, ...] = ("unauthorized", "unknown")
    for state in others:
        if rows := path.of(state):
            share = path.share(state)
            of_bids = "" if share is None else f" ({_share(share, path, texts)} of bids)"
            parts.append(f"{len(rows):,} {WORDS[state].lower()}{of_bids}")
    return f"{', '.join(parts)}."


def unauthorized_ids(context: PageContext, entity: str) -> tuple[tuple[str, ...], str]:
    """The ids of those with unauthorized bids, or why they can't be listed."""

    def fetch() -> list[str] | str:
        """Those with bids for unauthorized sites or apps; or why they can't be said."""
        deals_context = report.of_deals(context)
        field = None if deals_context is None else field_of(deals_context.slicer, BIDS)
        if deals_context is None or field is None:
            return "None of the slicers that you can see has bids by deal."
        asking, by = deal_report.insight(deals_context), DEAL if entity == DEALS else PACKAGE
        shares = asking.unauthorized_shares(index(context), by, field.name, PERIODS[0])
        if shares is None:
            return "The report is too large to read every record of it."
        return [state for state, share in shares.items() if share >= LEAST]

    with st.spinner("Checking the supply path", show_time=True):
        ids = catalog.fetch_cached(context, ("unauthorized", entity), fetch)
    if isinstance(ids, str):
        return (), ids
    if len(ids) > MOST_RESULTS:
        return (), f"{len(ids):,} have such bids; {MOST_RESULTS:,} can be listed at once."
    return tuple(sorted(ids)), ""


def _draw_path(path: SupplyPath, note: str, title: str) -> None:
    texts = counts.numbers()
    if not path.rows:
        st.caption(f"{title}No sites or apps yet. {plain(note)}")
        return
    is_wrong = bool(path.of("unauthorized"))
    icon = ":orange[:material/gpp_maybe:]" if is_wrong else ":material/verified_user:"
    st.markdown(f"{icon} {title}{plain(sentence(path, texts))}")
    doubts = [row.name for row in path.rows if row.state.doubt]
    if doubts:
        st.caption(
            f":material/info: ads.txt and sellers.json differ about {plain(and_more(doubts, MOST_NAMES))}."
        )
    with st.expander("Sites and apps", icon=":material/lan:"):
        rows = path.rows[:MOST_ROWS]
        columns = {
            "Site or app": [row.name or "(not set)" for row in rows],
            "State": [WORDS[row.state.state] for row in rows],
            "Bids": [
                "" if not path.bids else _share(100 * row.bids / path.bids, path, texts) for row in rows
            ],
            "Why": [f"{row.state.why} {row.state.doubt}".strip() for row in rows],
        }
        st.dataframe(straighten(columns), hide_index=True, alt="Supply path")
        more = f"The first {MOST_ROWS} of {len(path.rows):,}. " if len(path.rows) > MOST_ROWS else ""
        st.caption(plain(more + note))


def _share(share: float, path: SupplyPath, texts: Numbers) -> str:
    return ("" if path.is_exact else "about ") + texts.percent(share)
