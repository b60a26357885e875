"""The fields of a slicer that have a role: what a funnel, a price or a reason is called in it."""

from collections.abc import Iterable

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
STEPS = (
    ("requests", REQUESTS), ("bids", BIDS),  ("wins", WINS), ("impressions", IMPRESSIONS),
    ("viewable impressions", VIEWABLE),
)  # fmt: skip
DEAL, PACKAGE, SEAT, DSP = "deal", "supply_package", "seat", "dsp"
"""The steps of the funnel, and the key fields whose values are ids of deals, packages, seats and DSPs."""


def field_of(slicer: Slicer, names: tuple[str, ...]) -> DataField | None:
    """The data field with the role that these names are usual for, else the first of them that there is."""
    fields = {field.name: field for field in slicer.data_fields}
    candidates = (*_by_role(slicer.data_fields, names), *names)
    return next((fields[name] for name in candidates if name in fields), None)


def key_field_of(slicer: Slicer, names: tuple[str, ...]) -> str | None:
    """The same of key fields: its name."""
    field_names = {*slicer.key_names}
    return next((name for name in (*_by_role(slicer.key_fields, names), *names) if name in field_names), None)


def step_fields(slicer: Slicer) -> dict[str, str]:
    """The slicer's data fields for the steps of the funnel, as far as it has them, by the step's name."""
    fields = {name: field_of(slicer, names) for name, names in STEPS}
    return {name: field.name for name, field in fields.items() if field is not None}


def tells_deals(slicer: Slicer) -> bool:
    """Whether its key fields tell deals and packages apart, by the ids that these have in Deals."""
    return {DEAL, PACKAGE} <= {*slicer.key_names}


def tells_seats(slicer: Slicer) -> bool:
    """Whether its values of the key field `seat` are the ids of seats, as those of its deals are of deals."""
    return {SEAT, DEAL, PACKAGE} <= {*slicer.key_names}


def _by_role(fields: Iterable[DataField | KeyField], names: tuple[str, ...]) -> list[str]:
    """The names of the fields with the roles that all these names are usual for."""
    roles = {field.role: field.name for field in fields if field.role}
    return [roles[role] for role, usual in ROLES.items() if set(usual) <= set(names) and role in roles]
