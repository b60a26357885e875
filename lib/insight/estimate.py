"""What the fields of a report are called that have a role, and figures made of two of an answer."""

import math
from collections.abc import Iterable

from lib.reporting.answers import Audience, Estimate
from lib.slicers.models import DataField, KeyField, Slicer

REQUESTS, BIDS, IMPRESSIONS = ("bid_requests", "requests"), ("bids",), ("imps", "impressions")
WINS, VIEWABLE = ("wins",), ("viewable_imps", "viewable_impressions")
WIN_CPM = ("win_cpm", "win_bid_cpm", "avg_win_cpm")
WIN_RATE, SPEND = ("win_rate",), ("spend", "cost")
LOSSES, BID_PRICE = ("lost_bids",), ("bid_cpm", "avg_bid_cpm")
LOST_REASON, CREATIVE = ("lost_reason", "loss_reason"), ("creative", "creative_id")
ROLES = {
    "requests": REQUESTS, "bids": BIDS, "wins": WINS, "impressions": IMPRESSIONS, "viewable": VIEWABLE,
    "win_price": WIN_CPM, "lost": LOSSES, "bid_price": BID_PRICE, "lost_reason": LOST_REASON,
    "creative": CREATIVE, "spend": SPEND,
}  # fmt: skip
"""The usual names of the fields with a role; a definition's `roles` say it where they have other names."""


def field_of(slicer: Slicer, names: tuple[str, ...]) -> DataField | None:
    """The data field with the role that these names are usual for, else the first of them that there is."""
    fields = {field.name: field for field in slicer.data_fields}
    candidates = (*_by_role(slicer.data_fields, names), *names)
    return next((fields[name] for name in candidates if name in fields), None)


def key_field_of(slicer: Slicer, names: tuple[str, ...]) -> str | None:
    """The same of key fields: its name."""
    field_names = {field.name for field in slicer.key_fields}
    return next((name for name in (*_by_role(slicer.key_fields, names), *names) if name in field_names), None)


def _by_role(fields: Iterable[DataField | KeyField], names: tuple[str, ...]) -> list[str]:
    """The names of the fields with the roles that all these names are usual for."""
    roles = {field.role: field.name for field in fields if field.role}
    return [roles[role] for role, usual in ROLES.items() if set(usual) <= set(names) and role in roles]


def has_data(audience: Audience) -> bool:
    """Whether the days that were asked for have data at all, whatever the filters."""
    return bool(audience.total.dates) or any(audience.total.values.values())


def share(part: Estimate, rest: Estimate) -> Estimate:
    """`part` in percent of both together; its range is the widest that the two ranges allow.

    No value where one of the two has none, or there is nothing.
    """
    if part.value is None or rest.value is None or part.value + rest.value == 0:
        return Estimate(None)
    value = 100 * part.value / (part.value + rest.value)
    if part.is_exact and rest.is_exact:
        return Estimate(value)
    low_part, high_part = _sides(part)
    low_rest, high_rest = _sides(rest)
    return Estimate(value, _percent(low_part, high_rest), _percent(high_part, low_rest))


def part(figure: Estimate, whole: Estimate) -> Estimate:
    """A figure in percent of the `whole` that it is a part of, with the widest range that the two allow."""
    if figure.value is None or not whole.value:
        return Estimate(None)
    value = 100 * figure.value / whole.value
    if figure.is_exact and whole.is_exact:
        return Estimate(value)
    low, high = _sides(figure)
    low_whole, high_whole = _sides(whole)
    least = 100 * low / high_whole if high_whole else math.nan
    most = 100 * high / low_whole if low_whole else math.nan
    return Estimate(value, least, most if most != most else min(most, 100.0))


def _sides(figure: Estimate) -> tuple[float, float]:
    """A figure's range; counts are never below zero."""
    value = figure.value or 0.0
    low, high = figure.low, figure.high
    return (value, value) if low is None or high is None else (max(low, 0.0) if low == low else low, high)


def _percent(part: float, rest: float) -> float:
    whole = part + rest
    return 100 * part / whole if whole else math.nan
