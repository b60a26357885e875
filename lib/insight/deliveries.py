"""What the deals of a report delivered in the last 7 and 30 days, and how that paces towards their goals."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta, timezone

from lib.deals.delivery import FIGURES, DeliveryFigure
from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight.deal_report import DealReport
from lib.insight.goal import booking_of
from lib.reporting.answers import Audience
from lib.slicers.models import Slicer
from lib.slicers.roles import BIDS, DEAL, IMPRESSIONS, SPEND, WIN_CPM, WINS, field_of
from lib.wire.currencies import CODES

ROLES = {
    "impressions": IMPRESSIONS, "bids": BIDS, "wins": (*WINS, *IMPRESSIONS), "spend": SPEND, "cpm": WIN_CPM,
}  # fmt: skip
Figures = dict[str, float | None]
Measures = dict[str, float]


def delivery_fields(slicer: Slicer) -> dict[str, str]:
    """The slicer's data fields that the figures are made of, as far as it has them, by their role."""
    fields = {role: field_of(slicer, names) for role, names in ROLES.items()}
    return {role: field.name for role, field in fields.items() if field is not None}


class Deliveries:
    """The deliveries of all deals, from an answer per period (in days) that is split by deal.

    `is_estimate`: they are of a sample, so that of deals without rows nothing is known; else these had none.
    """

    def __init__(self, report: DealReport, answers: Mapping[int, Audience]) -> None:
        self._report, fields = report, delivery_fields(report.slicer)
        self._measures = {days: _measures(answer, fields, report) for days, answer in answers.items()}
        self._nothing = {
            days: dict.fromkeys(fields, 0.0) if answer.has_data and not answer.is_sampled else {}
            for days, answer in answers.items()
        }
        self.is_estimate = any(answer.is_sampled for answer in answers.values())

    def figures(self, deal: DemandDeal, packages: Sequence[SupplyPackage]) -> Figures:
        """The figures of a deal by name, those of FIGURES; None where the report or the deal can't say one,
        as of a budget in another currency than the report's.

        `packages` are those of the deal, none where they are not known.
        """
        return {name: self._figure(figure, deal, packages) for name, figure in FIGURES.items() if figure.days}

    def _figure(
        self, figure: DeliveryFigure, deal: DemandDeal, packages: Sequence[SupplyPackage]
    ) -> float | None:
        kind, days = figure.kind, figure.days
        measures = self._measures[days].get(str(deal.id), self._nothing[days])
        if kind == "win_rate":
            bids, wins = measures.get("bids"), measures.get("wins")
            return 100 * wins / bids if bids and wins is not None else None
        if kind != "pacing":
            return measures.get(kind)
        goal, so_far = (
            (deal.units, measures.get("impressions"))
            if deal.units is not None
            else (deal.budget if self._report.has_currency_of(deal) else None, measures.get("spend"))
        )
        if not goal or so_far is None or (booking := booking_of(packages)) is None:
            return None
        # Which part of the booking lies in these days.
        (start, end), period = booking, self._report.period(days)
        zone = timezone(timedelta(hours=self._report.slicer.timezone))
        first = datetime.combine(period[0], time(), zone)
        until = datetime.combine(period[1] + timedelta(days=1), time(), zone)
        within = min(end, until) - max(start, first)
        return 100 * so_far / (float(goal) * (within / (end - start))) if within > timedelta(0) else None


def _measures(answer: Audience, fields: Mapping[str, str], report: DealReport) -> dict[str, Measures]:
    """What each deal had, by role; spend by the win CPM where the slicer has no field for it.

    Not money that a key field, or the definition, says is in another currency than the desk's.
    """
    columns = {}
    for role, name in fields.items():
        code = report.slicer.data_field(name).currency
        own = code if code in CODES else ""
        columns[role] = [
            math.nan
            if figure.value is None or (figure.currency or own) not in ("", report.currency)
            else figure.value
            for figure in answer.rows_of(name)
        ]
    if "spend" not in columns and {"wins", "cpm"} <= columns.keys():
        pairs = zip(columns["wins"], columns["cpm"], strict=True)
        columns["spend"] = [wins * cpm / 1000 for wins, cpm in pairs]
    return {
        str(deal): {role: values[row] for role, values in columns.items() if values[row] == values[row]}
        for row, deal in enumerate(answer.names[DEAL])
    }
