"""What the buyer of one of the demo's deals counts and answers.

Their counts are the report's figures, less what is lost on the way.
"""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal

import numpy as np

from lib.deals.buyer_counts import BuyerCounts, DayCounts
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.negotiation import Negotiations, OfferTerms, Round
from lib.demo import stories
from lib.demo.cast import PROJECT
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.slicers.granularities import time_key_field
from lib.wire.filters import Filter

SLICER, DAYS, NOISE, SEED = "curation", 35, 0.02, 37
PROPOSED_SHARE, WORD = Decimal("0.9"), "10 % less until we know where the bid requests are lost"
FIELDS, DAY = ("bid_requests", "bids", "imps", "spend"), time_key_field("day")


def enter_counts(reporting: Reporting, deals: Deals, counts: BuyerCounts, today: dt.date, link: int) -> None:
    """Enter story 8 through the share link of this number: the counts of the days before today."""
    slicer = reporting.info(InfoQuery(project_name=PROJECT, slicer_name=SLICER))
    query = AudienceQuery(
        project_name=PROJECT, slicer_name=SLICER, start_date=(today - dt.timedelta(days=DAYS)).isoformat(),
        end_date=(today - dt.timedelta(days=1)).isoformat(),
        filters=(Filter(name="deal", value=(str(stories.DOUBTED_DEAL),), match="equals"),),
        data_fields=FIELDS, split_by=(DAY,), exact_within=60_000,
    )  # fmt: skip
    answer = reporting.audience(query, slicer)
    draw, lost_from = np.random.default_rng(SEED), today - dt.timedelta(days=stories.DOUBTED_DAYS)
    days: dict[dt.date, DayCounts] = {}
    for day, *figures in zip(answer.names[DAY], *(answer.values[name] for name in FIELDS), strict=True):
        at = dt.date.fromisoformat(str(day)[:10])
        factor = stories.DOUBTED_FACTOR if at >= lost_from else 1.0
        requests, bids, wins, spend = factor * np.array(figures) * np.exp(draw.normal(0, NOISE, len(FIELDS)))
        days[at] = DayCounts(round(requests), round(bids), round(wins), Decimal(f"{spend:.2f}"))
    counts.enter(deals.get(DemandDeal, stories.DOUBTED_DEAL), days, link)


def propose(deals: Deals, negotiations: Negotiations, usual_terms: Mapping[str, str], link: int) -> None:
    """Propose a lower price for the deal of story 8 through the share link of this number.

    `usual_terms` are those of deals that have none of their own.
    """
    deal = deals.get(DemandDeal, stories.DOUBTED_DEAL)
    packages = deals.get_many(SupplyPackage, [package.id for package in deal.supply_deals if package.id])
    terms = OfferTerms.of(deal, [*packages.values()], usual_terms)
    price = round((deal.price or Decimal(1)) * PROPOSED_SHARE, 2)
    answer = Round("buyer", "proposes", OfferTerms(price), "Robin Example", WORD, link)
    negotiations.add(deal, terms, answer, negotiations.of(deal, terms).mark)
