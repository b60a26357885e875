"""The dossier of a deal as its buyer reads it: terms, both sides of the funnel, and since when they differ.

It has what the buyer of this deal may know: nothing of other deals and seats, no fee (that of the agency and
the curator), no names of lists, and nothing of the deal's health, whose reasons may name others.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from lib.deals import fields
from lib.deals.buyer_counts import NOUNS
from lib.deals.models import PRICE_TYPES, DemandDeal, SupplyPackage, price_type_of
from lib.figures import numbers, palette
from lib.figures.deals import buyer_terms, field_text
from lib.figures.deals.deal_names import deal_number, dsp_of, seat_label, seat_of
from lib.figures.deals.field_text import Prices
from lib.figures.numbers import Numbers
from lib.insight import Dossier
from lib.share.snapshot import models as snapshots
from lib.slicers.granularities import GRANULARITIES
from lib.slicers.models import Slicer
from lib.wire.text import write_day

ENGLISH = Numbers()


def terms(
    deal: DemandDeal, packages: Sequence[tuple[SupplyPackage, str]], money: Prices, usual: str
) -> Iterator[tuple[str, str]]:
    """The terms by title. `usual` is the price type of deals without one; `packages` come with their
    targeting in words (buyer_terms.py). What the buyer answered is none of them: the status at the buyer."""
    deal = fields.redact(deal, "buyer")
    dsp = dsp_of(deal)
    yield "Deal id", deal_number(deal.deal_id, deal.id)
    yield "Seat", seat_label([seat_of(deal) or "?"], [dsp] if dsp else [])
    kind = PRICE_TYPES.get(price_type_of(deal.deal_type, deal.price_type, usual), "")  # type: ignore[call-overload]
    yield "Price", f"{field_text.amount(deal.price)} {money.of(deal.currency).terms}, {kind}".rstrip(", ")
    yield "Status", (deal.status or field_text.NOTHING).capitalize()
    terms = buyer_terms.terms_of(buyer_terms.plain_values(deal), money.of(deal.currency).currency)
    others = [field_text.title(name) for name in ("price_type", "buyer_status")]
    yield from ((title, text) for title, text in terms.items() if title not in others)
    for whole_package, targeting in packages:
        package = fields.redact(whole_package, "buyer")
        yield (
            package.name or "Package",
            f"{(package.media_type or 'any media').capitalize()}, {field_text.span(package)}",
        )
        yield from buyer_terms.package_terms(package, targeting).items()


def goal_facts(goal: Any) -> Iterator[tuple[str, str]]:
    """What was delivered of a deal's goal, by title; `goal` as Insight.goal has it."""
    for title, value in (("Delivered to date", goal.to_date), ("Expected to date", goal.expected)):
        share = ENGLISH.percent(100 * value / goal.goal, 0)
        yield title, f"{ENGLISH.number(value, 0)} of {ENGLISH.number(goal.goal, 0)} ({share})"


def snapshot(
    title: str, terms: Iterable[tuple[str, str]], dossier: Dossier, slicer: Slicer, at: datetime
) -> snapshots.Snapshot:
    """The page of the buyer."""
    zone = field_text.offset(60 * slicer.timezone)
    days = f"{numbers.days(dossier.days[0], dossier.days[-1])}, days in {zone}"
    nothing = f"Our report, which ends on {write_day(dossier.days[-1])}, has nothing of this deal yet."
    has_figures = bool(dossier.steps) and dossier.has_counts
    has_both = dossier.comparison is not None and bool(dossier.comparison.days)
    return snapshots.Snapshot(
        title=title,
        facts=(*terms, ("Report", days), ("Taken", numbers.moment(at))),
        address="",
        chart=chart(dossier, "Yours") if has_figures else None,
        cards=(funnel(dossier, "Yours"),) if has_figures else (),
        tables=(by_day(dossier, "yours", has_both),) if has_figures else (),
        lead=dossier.sentences(is_buyer=True) if has_figures or not dossier.ours else [nothing],
    )


def chart(dossier: Dossier, theirs: str) -> snapshots.Chart:
    """Both sides of the step to look at, by day; `theirs` is what the buyer's side is called."""
    step = dossier.step
    lines = []
    if step in dossier.ours:
        noun = dossier.wins if step == "wins" else NOUNS[step]
        lines.append(_line(f"Ours: {noun}", dossier.ours[step], step))
    if step in dossier.theirs:
        lines.append(
            _line(
                f"{theirs}: {NOUNS[step]}",
                dossier.their_figures(step),
                step,
                palette.THEME["chartCategoricalColors"][1],
            )
        )
    names = [write_day(day) for day in dossier.days]
    return snapshots.Chart(
        title=NOUNS[step].capitalize(),
        alt=f"{NOUNS[step].capitalize()} by day, {numbers.days(dossier.days[0], dossier.days[-1])}",
        grain="day",
        names=names,
        starts=[f"{day.isoformat()}T00:00:00" for day in dossier.days],
        parts=[""] * len(names),
        ticks=[GRANULARITIES["day"].tick(day.isoformat()) for day in dossier.days],
        lines=lines,
    )


def funnel(dossier: Dossier, theirs: str) -> snapshots.Table:
    """The sums of each step: of the common days where there are counts of the buyer, else of all."""
    common = set(dossier.comparison.days) if dossier.comparison is not None else set()
    is_of = np.array([day in common or not common for day in dossier.days])
    rows: list[snapshots.Row] = []
    before: float | None = None
    for step in dossier.steps:
        ours = _sum(dossier.ours.get(step), is_of)
        buyers = _sum(dossier.their_figures(step), is_of) if step in dossier.theirs and common else None
        of_before = None if step == "spend" or not before or ours is None else 100 * ours / before
        cells = [
            snapshots.Cell(NOUNS[step].capitalize()),
            snapshots.Cell(_text(ours, step), ours),
            snapshots.Cell(ENGLISH.percent(of_before), of_before),
        ]
        rows.append(
            snapshots.Row([*cells, *(_theirs(buyers, ours, step, dossier.tolerance) if common else ())])
        )
        before = ours
    titles = ["Step", "Ours", "Of the step before", *([theirs, "Difference"] if common else [])]
    days = sorted(common or dossier.days)
    about = f"{len(days)} common days, " if common else ""
    note = "Our side has impressions in place of wins." if dossier.wins != "wins" else ""
    return snapshots.Table("Funnel", f"{about}{numbers.days(days[0], days[-1])}", titles, 1, rows, note)


def by_day(dossier: Dossier, theirs: str, has_both: bool) -> snapshots.Table:
    """All steps by day, the latest first."""
    titles = ["Day"]
    for step in dossier.steps:
        noun = NOUNS[step].capitalize()
        titles += [noun, f"{noun}, {theirs}", f"{noun}, difference"] if has_both else [noun]
    rows = []
    for index in reversed(range(len(dossier.days))):
        day = dossier.days[index]
        cells = [snapshots.Cell(write_day(day), index)]
        for step in dossier.steps:
            ours = _at(dossier.ours.get(step), index)
            cells.append(snapshots.Cell(_text(ours, step), ours))
            if has_both:
                cells += _theirs(_at(dossier.their_figures(step), index), ours, step, dossier.tolerance)
        rows.append(snapshots.Row(cells))
    return snapshots.Table("By day", "", titles, 1, rows)


def _theirs(buyers: float | None, ours: float | None, step: str, tolerance: float) -> list[snapshots.Cell]:
    """The buyer's figure, and how it differs; one within the settled share is faint."""
    share = None if buyers is None or not ours else buyers / ours - 1
    is_faint = share is None or abs(share) <= tolerance
    return [
        snapshots.Cell(_text(buyers, step), buyers),
        snapshots.Cell(ENGLISH.change(share) if share is not None else "–", share, is_faint=is_faint),
    ]


def _line(label: str, values: np.ndarray, step: str, color: str = "") -> snapshots.Line:
    plain = [None if value != value else float(value) for value in values]
    return snapshots.Line(label, plain, [_text(value, step) for value in plain], color)


def _text(value: float | None, step: str) -> str:
    return ENGLISH.number(value, 2 if step == "spend" else 0)


def _sum(values: np.ndarray | None, is_of: np.ndarray) -> float | None:
    return None if values is None or not np.isfinite(values[is_of]).any() else float(np.nansum(values[is_of]))


def _at(values: np.ndarray | None, index: int) -> float | None:
    return None if values is None or values[index] != values[index] else float(values[index])
