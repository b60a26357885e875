"""Choosing which packages or deals something is linked with: searched by the service, however many."""

from collections.abc import Sequence

import streamlit as st

from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import pages
from lib.ui.deals.rows import deal_label
from lib.ui.kit.frame import PageContext

OFFERED = 50
ENTITY_STORES: dict[type[PackageOrDeal], str] = {SupplyPackage: "Package", DemandDeal: "Deal"}


def choose(context: PageContext, label: str, key: str, model: type[PackageOrDeal]) -> None:
    """A choice of several by id; what is chosen already is offered, known or not."""
    chosen: Sequence[int] = st.session_state[key]
    titles = options(context, label, f"{key}_search", model, chosen)
    st.multiselect(
        label,
        list(titles),
        format_func=titles.__getitem__,
        key=key,
        persist_state="session",
        filter_mode="contains",
        select_all=False,
    )


def options(
    context: PageContext,
    label: str,
    key: str,
    model: type[PackageOrDeal],
    chosen: Sequence[int],
    disabled: bool = False,
) -> dict[int, str]:
    """The options: those chosen, and the newest; if there are more, those that a search finds."""
    everything = pages.some(context, model, "", OFFERED)
    found = everything
    if everything.count > OFFERED:
        number = Numbers.of(st.context.locale).number(everything.count)
        text = st.text_input(
            f"Search for {label.lower()}", type="search", live="200ms", key=key, disabled=disabled,
            placeholder=f"Search among {number} by name, seat, DSP or id", label_visibility="collapsed",
        )  # fmt: skip
        found = pages.some(context, model, " ".join((text or "").split()), OFFERED)
    return labels(context, model, chosen) | {one.id or 0: title(one) for one in found.results}


def labels(context: PageContext, model: type[PackageOrDeal], ids: Sequence[int]) -> dict[int, str]:
    """The labels of these in the picker."""
    known = {one.id: title(one) for one in pages.by_id(context, model, ids)}
    return {one: known.get(one) or f"{ENTITY_STORES[model]} {one}" for one in ids}


def title(one: PackageOrDeal) -> str:
    """A package or a deal as the picker has it."""
    return deal_label(one) if isinstance(one, DemandDeal) else f"{one.name or 'Package'} · {one.id}"
