"""What seats win at in each medium, in one question: the scales that new prices are compared with."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from lib.deals.models import Seat
from lib.deals.warnings import PriceScale, WinScales
from lib.insight.deal_report import DealReport
from lib.insight.win_prices import DAY, quartiles, win_fields
from lib.slicers.models import Order
from lib.slicers.roles import SEAT

MEDIA, DAYS, MOST, SMALLEST = "media_type", 30, 10_000, 0.1


def win_scales(report: DealReport, seats: Sequence[Seat]) -> WinScales:
    """What these seats won at; nothing where the slicer can't tell. Raises why it can't be asked.

    The seats are those that the deals client returned to whoever asks, so that it is about none of others.
    """
    fields = win_fields(report.slicer)
    names = {field.name for field in report.slicer.key_fields}
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
                scales[number, medium] = _scale(low, high, number, medium)
    return WinScales(scales)


def _scale(low: float, high: float, seat: str, medium: str) -> PriceScale:
    who = "this seat" if seat else "all seats"
    what = f"of what {who} won{f' in {medium}' if medium else ''}"
    low_price, high_price = (
        Decimal(str(round(figure, 2 if figure >= SMALLEST else 6))) for figure in (low, high)
    )
    return PriceScale(low_price, high_price, f"the lower quartile {what}", f"the upper quartile {what}")
