"""What seats win at in each medium, in one question: the scales that new prices are compared with."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from lib.deals.doubts import PriceScale, WinScales
from lib.deals.models import Seat
from lib.insight.deal_report import DealReport
from lib.insight.win_prices import DAY, WinFields, quartiles, win_fields
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers.models import Order
from lib.slicers.roles import SEAT

MEDIA, DAYS, MOST, SMALLEST = "media_type", 30, 10_000, 0.1


def ask_win_scales(report: DealReport, seats: Sequence[Seat]) -> WinScales:
    """What these seats won at; nothing where the slicer can't tell. Raises why it can't be asked."""
    query = win_scales_query(report, seats)
    return WinScales({}) if query is None else win_scales(report.ask(query[0]), query[1])


def win_scales_query(report: DealReport, seats: Sequence[Seat]) -> tuple[AudienceQuery, WinFields] | None:
    """The question, and the names of its data fields; None where the slicer can't tell.

    It is about the seats that the deals client returned to whoever asks, and so about none of others.
    """
    fields = win_fields(report.slicer)
    names = {field.name for field in report.slicer.key_fields}
    if fields is None or SEAT not in names or not seats:
        return None
    split = tuple(name for name in (SEAT, MEDIA, DAY) if name in names)
    update = {
        "filters": report.only(seats),
        "split_by": split,
        "data_fields": (fields.cpm, fields.wins),
        "order_by": (Order(name=fields.wins, direction="desc"),),
        "limit": MOST,
    }
    return report.query(DAYS).model_copy(update=update), fields


def win_scales(answer: Audience, fields: WinFields) -> WinScales:
    """What an answer to `win_scales_query` says."""
    cpm, wins, has_price = fields.read(answer)
    has_price &= np.nan_to_num(cpm) > 0
    cpm, wins = cpm[has_price], wins[has_price]
    seats = np.asarray(answer.names[SEAT], dtype=object)[has_price].astype(str)
    media = np.full(len(seats), "", dtype=object)
    if MEDIA in answer.names:
        media = np.asarray(answer.names[MEDIA], dtype=object)[has_price].astype(str)
    scales: dict[tuple[str, str], PriceScale] = {}
    for medium in ("", *dict.fromkeys(media)):
        for seat in ("", *dict.fromkeys(seats)):
            rows = (media == medium if medium else True) & (seats == seat if seat else True)
            rows = np.broadcast_to(rows, seats.shape)
            if rows.any():
                low, _, high = quartiles(cpm[rows], wins[rows])
                scales[seat, medium] = _scale(low, high, seat, medium)
    return WinScales(scales)


def _scale(low: float, high: float, seat: str, medium: str) -> PriceScale:
    who = "this seat" if seat else "all seats"
    what = f"of what {who} won{f' in {medium}' if medium else ''}"
    low_price, high_price = (
        Decimal(str(round(figure, 2 if figure >= SMALLEST else 6))) for figure in (low, high)
    )
    return PriceScale(low_price, high_price, f"the lower quartile {what}", f"the upper quartile {what}")
