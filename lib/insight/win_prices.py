"""What wins cost in a selection: median and quartiles of the win CPM, and how many a price lets through.

The service knows averages of groups, not single auctions: each group of an answer (a domain on a day) counts
with its average win CPM as often as it had wins. The spread within a group is not seen, so that single
auctions scatter more widely than these quartiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from lib.deals.comparisons import PriceScale, WinScales
from lib.deals.models import Seat
from lib.insight.deal_report import DealReport
from lib.reporting.answers import Audience
from lib.reporting.models import API_ROWS_LIMIT, AudienceQuery
from lib.reporting.query_batch import Lookup
from lib.slicers.dates import Days
from lib.slicers.granularities import TIME_KEY_FIELDS, time_key_field
from lib.slicers.models import Order, Slicer
from lib.slicers.roles import IMPRESSIONS, SEAT, WIN_CPM, WINS, field_of

DAY, MOST = time_key_field("day"), 10_000
QUARTERS = (0.25, 0.5, 0.75)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class WinFields:
    """The data fields: the win CPM, and what counts the wins."""

    cpm: str
    wins: str

    def read(self, answer: Audience) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """The win CPM and the wins of each row, and which rows have both."""
        cpm, wins = (answer.comparable(name) for name in (self.cpm, self.wins))
        wins = np.nan_to_num(wins)
        return cpm, wins, np.isfinite(cpm) & (wins > 0)


@dataclass(frozen=True)
class WinPrices:
    """The quartiles of the win CPM, how many groups they are of, and the percent of the wins these have.

    `is_exact` says whether every record was read.
    """

    low: float
    median: float
    high: float
    groups: int
    coverage: float
    is_exact: bool

    def share_from(self, price: Decimal) -> str:
        """How many cost as much as this price or more, in words: those that a floor lets through."""
        value = float(price)
        if value <= self.low:
            return "at least three quarters"
        if value <= self.median:
            return "half to three quarters"
        return "a quarter to a half" if value <= self.high else "less than a quarter"


def win_fields(slicer: Slicer) -> WinFields | None:
    """What this slicer calls them; None where it lacks one."""
    cpm, wins = field_of(slicer, WIN_CPM), field_of(slicer, (*WINS, *IMPRESSIONS))
    return None if cpm is None or wins is None else WinFields(cpm.name, wins.name)


def win_question(query: AudienceQuery, slicer: Slicer, fields: WinFields) -> AudienceQuery:
    """The question for the groups: by day and by the first key field of its split that is neither a time nor
    segmented, those with the most wins first."""
    fields_by_name = {field.name: field for field in slicer.key_fields}
    plain = [
        name
        for name in query.split_by
        if name in fields_by_name and name not in TIME_KEY_FIELDS and not fields_by_name[name].is_segmented
    ]
    return query.model_copy(
        update={
            "split_by": (*plain[:1], *((DAY,) if DAY in fields_by_name else ())),
            "data_fields": (fields.cpm, fields.wins),
            "order_by": (Order(name=fields.wins, direction="desc"),),
            "limit": MOST,
            "offset": 0,
            "audience_rows_limit": API_ROWS_LIMIT,
            "precision": 1,
        }
    )


def lookup(report: DealReport, fields: WinFields, query: AudienceQuery) -> Lookup[WinPrices | None]:
    """What wins cost in what a query selects, by day and its split; None without any win."""
    win_query = win_question(query, report.slicer, fields)
    return Lookup([win_query], lambda answers: win_prices(answers[0], fields))


def win_prices(answer: Audience, fields: WinFields) -> WinPrices | None:
    """The quartiles of an answer to `win_question`; None without any win."""
    cpm, wins, has_price = fields.read(answer)
    if not has_price.any():
        return None
    low, median, high = quartiles(cpm[has_price], wins[has_price])
    whole = answer.total.values.get(fields.wins) or 0.0
    coverage = min(100.0, 100 * float(wins[has_price].sum()) / whole) if whole else 100.0
    return WinPrices(low, median, high, int(has_price.sum()), coverage, not answer.is_sampled)


def lost_between(
    answer: Audience, fields: WinFields, prices: tuple[float, float], days: Days
) -> float | None:
    """The part of what one price let through that another does not, from an answer to `win_question`.

    A higher price is a floor: it lets through what cost as much or more. A lower one is fixed, and wins over
    what cost less. Of groups on these days (first and last); None where nothing got through at all.
    """
    cpm, wins, is_counted = fields.read(answer)
    if DAY in answer.names:
        names = answer.names[DAY].astype(str).str[:10]
        is_counted &= ((names >= days[0].isoformat()) & (names <= days[1].isoformat())).to_numpy()
    before, after = prices
    through = [cpm >= price if after > before else cpm < price for price in prices]
    had, has = (float(wins[is_counted & is_through].sum()) for is_through in through)
    return 1 - has / had if had else None


def quartiles(values: Floats, weights: Floats) -> tuple[float, float, float]:
    """The smallest values up to which a quarter, half and three quarters of the weight lie."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    at = np.searchsorted(cumulative, np.array(QUARTERS) * cumulative[-1] * (1 - 1e-12))
    low, median, high = values[order][at]
    return float(low), float(median), float(high)


MEDIA, DAYS, SMALLEST = "media_type", 30, 0.1


def win_scales(report: DealReport, seats: Sequence[Seat]) -> WinScales:
    """What these seats won at; nothing where the slicer can't tell. Raises why it can't be asked.

    The seats are those that the deals client returned to whoever asks, so that it is about none of others.
    """
    fields = win_fields(report.slicer)
    names = {*report.slicer.key_names}
    if fields is None or SEAT not in names or not seats:
        return WinScales({})
    query = report.query(
        DAYS,
        filters=report.only(seats),
        split_by=tuple(name for name in (SEAT, MEDIA, DAY) if name in names),
        data_fields=(fields.cpm, fields.wins),
        order_by=(Order(name=fields.wins, direction="desc"),),
        limit=MOST,
    )
    answer = report.ask(query)
    cpm, wins, has_price = fields.read(answer)
    has_price &= np.nan_to_num(cpm) > 0
    cpm, wins = cpm[has_price], wins[has_price]
    ids = np.asarray(answer.names[SEAT], dtype=object)[has_price].astype(str)
    media = np.full(len(ids), "", dtype=object)
    if MEDIA in answer.names:
        media = np.asarray(answer.names[MEDIA], dtype=object)[has_price].astype(str)
    scales: dict[tuple[str, str], PriceScale] = {}
    for medium in ("", *dict.fromkeys(media)):
        for number in ("", *dict.fromkeys(ids)):
            rows = (media == medium if medium else True) & (ids == number if number else True)
            rows = np.broadcast_to(rows, ids.shape)
            if rows.any():
                low, _, high = quartiles(cpm[rows], wins[rows])
                who = "this seat" if number else "all seats"
                what = f"of what {who} won{f' in {medium}' if medium else ''}"
                low_price, high_price = (
                    Decimal(str(round(figure, 2 if figure >= SMALLEST else 6))) for figure in (low, high)
                )
                scales[number, medium] = PriceScale(
                    low_price, high_price, f"the lower quartile {what}", f"the upper quartile {what}"
                )
    return WinScales(scales)
