"""The demo's board: how curation does this week, from saved views of two slicers."""

from collections.abc import Mapping

from lib.demo.cast import PROJECT
from lib.views import BoardCell, BoardPart, ViewStore

NAME = "Monday meeting"
WEEK = {"start": "-7d", "end": "yesterday"}
VIEWS: Mapping[str, tuple[str, dict[str, str]]] = {
    "Curation at a glance": ("curation", {**WEEK, "split": "deal", "cards": "deal~country~device_type~seat"}),
    "Delivery by day": ("delivery", {**WEEK, "field": "imps", "grain": "day"}),
    "Countries and devices": (
        "delivery",
        {
            **WEEK,
            "fields": "imps~ctr~payout.adv_payout",
            "top": "10",
            "split": "bid_context_wrapper.user.geo.country~bid_context_wrapper.user.agent.device.type",
        },
    ),
}
CELLS: tuple[tuple[str, BoardPart, int, str], ...] = (
    ("Curation at a glance", "headline", 4, ""),
    ("Delivery by day", "chart", 2, ""),
    ("Curation at a glance", "chart", 2, ""),
    ("Curation at a glance", "leaderboard", 2, ""),
    ("Countries and devices", "table", 2, ""),
)


def make(store: ViewStore) -> None:
    """Save the views and the board, shared, where there are none yet."""
    if store.boards.all():
        return
    numbers = {}
    for name, (slicer, params) in VIEWS.items():
        same = [view for view in store.views.of(PROJECT, slicer) if view.name == name]
        view = same[0] if same else store.views.save(PROJECT, slicer, name, params, is_shared=True)
        numbers[name] = view.id
    cells = [BoardCell(numbers[name], part, width, card) for name, part, width, card in CELLS]
    store.boards.save(NAME, True, cells, {"compare": "previous"})
