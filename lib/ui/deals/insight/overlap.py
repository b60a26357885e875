"""The overlap of packages: how much inventory each two share, and which seats have two prices for it."""

import pandas as pd
import streamlit as st

from lib.deals.fields import SUPPLY
from lib.deals.models import SupplyPackage
from lib.deals.targeting.filters import report_filters
from lib.figures import numbers
from lib.figures.deals import deal_report, field_text
from lib.figures.numbers import Numbers
from lib.insight import Insight, SharedInventory
from lib.reporting.answers import Estimate
from lib.slicers.models import DataField
from lib.ui.deals import catalog, counts, list_state
from lib.ui.deals.insight import report
from lib.ui.deals.insight.targeting_figures import precision_of, range_text
from lib.ui.deals.list_state import ListSearch
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import report_errors

OPEN = "overlap_of"
PLACE = "overlap"
FEWEST = 2
MOST = 12


def draw(search: ListSearch, list_view: list_state.ListView) -> None:
    """Draw the button: the chosen packages, or without any the first ones of the list."""
    if search.entity != SUPPLY:
        return
    selection = [row.id for row in list_view.selection.values() if row.entity == SUPPLY]
    visible_ids = [row.id for row in list_state.current().visible_rows.values() if row.entity == SUPPLY]
    ids = selection or visible_ids
    st.button(
        f"Overlap {len(selection)}" if selection else "Overlap", icon=":material/join_inner:",
        type="tertiary", key="deals_overlap", disabled=len(ids) < FEWEST,
        help=f"What the chosen packages share; without a choice, the first {MOST} listed",
        on_click=st.session_state.update, args=({OPEN: tuple(ids)},),
    )  # fmt: skip


def draw_dialog(context: PageContext) -> None:
    """Draw the dialog, if it is open."""
    ids: tuple[int, ...] = st.session_state.get(OPEN, ())
    if ids:
        dialog = st.dialog(
            "Overlap of packages", width="large", icon=":material/join_inner:", on_dismiss=close
        )
        dialog(_content)(context, ids)


def close() -> None:
    """Close it; what is not answered yet is given up. A callback, and what another screen does."""
    st.session_state.pop(OPEN, None)
    report.forget(PLACE)


def _content(context: PageContext, ids: tuple[int, ...]) -> None:
    with report_errors("The overlap", effect="Nothing was changed."):
        package_of = {package.id: package for package in catalog.by_id(context, SupplyPackage, ids[:MOST])}
        packages = [package_of[number] for number in ids if number in package_of]
        if len(ids) > MOST:
            number = counts.number(len(ids))
            st.caption(f":material/info: The first {MOST} of {number} packages. Choose others in the list.")
        field = report.volume_field(context)
        if field is not None and len(packages) < FEWEST:
            st.caption("Choose two packages or more.")
        elif field is not None:
            lists = catalog.list_entries(context)
            translations = [
                report_filters(package, context.slicer, lists, package.media_type) for package in packages
            ]
            asking = deal_report.insight(context)
            lookup = asking.overlap([translation.filters for translation in translations], field.name)
            answers = report.answers_with_data(context, PLACE, lookup.queries, "the overlap")
            if answers is None:
                return
            days = numbers.days(*report.period(context, lookup.queries[0]))
            single, pairs = lookup.read(answers)
            names = [f"{number} · {package.name or package.id}" for number, package in enumerate(packages, 1)]
            st.dataframe(straighten(matrix(names, single, pairs, field)), width="stretch", height="content")
            st.caption(
                plain(
                    f"{numbers.title(field)} of each package, and the share that also matches the package in "
                    f"the column. {days} · From {context.project}/{context.slicer_name} · "
                    f"{precision_of(answers, field)} · Dates of the packages are ignored."
                )
            )
            # What the filters leave out of each targeting: its figures are then those of more.
            for name, translation in zip(names, translations, strict=True):
                if translation.left_out:
                    left_out = f"Not counted for {plain(name)}: {plain(' '.join(translation.left_out))}"
                    st.caption(f":material/info: {left_out}")
            _two_prices(context, packages, names, pairs, field)


def matrix(
    names: list[str], single: list[Estimate], pairs: list[SharedInventory], field: DataField
) -> pd.DataFrame:
    """A row per package: what it has, and the percent of it that each other one, by number, has too."""
    texts = counts.numbers()
    cells = {(index, index): "–" for index in range(len(names))}
    for pair in pairs:
        cells[pair.first, pair.second] = _percent(pair.of_first, texts)
        cells[pair.second, pair.first] = _percent(pair.of_second, texts)
    columns = {numbers.title(field): [_volume(figure, texts) for figure in single]}
    columns |= {f"{at + 1}": [cells[index, at] for index in range(len(names))] for at in range(len(names))}
    return pd.DataFrame(columns, index=pd.Index(names, name="Package"))


def _percent(estimate: Estimate, texts: Numbers) -> str:
    if estimate.value is None:
        return "no data"
    if estimate.value == 0 and estimate.is_exact:
        return "none"
    return texts.percent(estimate.value) + range_text(estimate, texts.percent)


def _volume(estimate: Estimate, texts: Numbers) -> str:
    if estimate.value is None:
        return "no data"
    return texts.rough(estimate.value) + range_text(estimate, texts.rough)


def _two_prices(
    context: PageContext,
    packages: list[SupplyPackage],
    names: list[str],
    pairs: list[SharedInventory],
    field: DataField,
) -> None:
    """Draw the seats that are offered the same inventory at several prices."""
    st.markdown("**Seats with two prices for shared inventory**")
    deals_of_package = catalog.deals_of(context.deals, packages)
    conflicts = Insight.two_prices([deals_of_package[package.id or 0] for package in packages], pairs)
    if not conflicts:
        st.caption(
            "None: no seat has deals that are not paused, at different prices, in two of these packages."
        )
        return
    texts = counts.numbers()
    money = field_text.prices_of(context)
    rows = []
    for conflict in conflicts:
        both = " and ".join(names[index] for index in (conflict.pair.first, conflict.pair.second))
        prices = " and ".join(money.price(price, conflict.currency) for price in conflict.prices)
        rows.append((conflict.seat, both, prices, _volume(conflict.pair.volume, texts)))
    titles = ("Seat", "Packages", money.title, f"Shared {numbers.title(field).lower()}")
    st.dataframe(straighten(pd.DataFrame(rows, columns=list(titles))), hide_index=True, width="stretch")
