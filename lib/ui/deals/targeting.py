"""Volume of a package's targeting, and the cost of each of its targets, from the report."""

import streamlit as st

from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight.filters import entries, report_filters
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import reported
from lib.ui.supply import catalogue, costs, per_day
from lib.ui.targeting import picker, words

PLACE = "drawer"


def draw(here: Here, entity: SupplyPackage | DemandDeal) -> None:
    """The targeting in words, its days and the cost of its targets."""
    if not isinstance(entity, SupplyPackage):
        return
    with reported("The targeting", kept="Nothing was changed."):
        described = picker.described(here, catalogue.usual_days(here), entity)
        lists = entries(catalogue.lists(here))
        st.markdown(plain(words.sentence(entity, None, described)))
        if unread := words.unread(entity):
            st.caption(
                f":material/info: Not counted in, as Tranche can't read it: {plain(', '.join(unread))}."
            )
        translation = report_filters(entity, here.slicer, lists, entity.media_type)
        for sentence in translation.left_out:
            st.caption(f":material/info: Not counted in: {plain(sentence)}")
        per_day.draw(here, f"{PLACE}_days", translation.filters, (entity.start_date, entity.end_date))
        costs.draw(here, PLACE, entity, lists, entity.media_type, described)
