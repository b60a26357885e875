"""The figures of a board: each cell is a part of its view's answer, under the board's days and filters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lib.figures import numbers
from lib.figures.query import filters, state, values
from lib.figures.query.focus import Focus
from lib.reporting.links import join_texts, split_texts
from lib.reporting.models import AudienceQuery
from lib.serving.front.overview_route import OverviewRequest
from lib.share.documents.question import (
    Params,
    reason_without_chart,
    snapshot_chart,
    snapshot_figure,
    snapshot_table,
)
from lib.share.snapshot import models as snapshots
from lib.slicers import zones
from lib.views.board_copies import BoardCopy, BoardItem
from lib.views.boards import BoardPart
from lib.wire.text import straight

MOST_LISTED = 3
MISSING = "It was deleted, or you may not see it. Its cell is kept."
PARTS: Mapping[BoardPart, str] = {
    "headline": "head",
    "chart": "head",
    "leaderboard": "cards",
    "table": "split",
}


def request(params: Params, item: BoardItem, language: str) -> OverviewRequest:
    """The board's request for a cell: its view under these parameters, with what its part alone needs."""
    # The view's parameters with what its part alone needs: one leaderboard, and a split that is a table.
    own = {name: text for name, text in params.items() if name not in ("project", "slicer")}
    if item.part == "leaderboard" and (texts := split_texts(own.get("cards", "") or item.card))[0]:
        names = {text.partition("!")[0]: text for text in texts}
        own["cards"] = join_texts([names.get(item.card, item.card) if item.card else texts[0]])
    if item.part == "table" and own.get("chart") != "pivot":
        own.pop("chart", None)
    parts = [PARTS[item.part]]
    return OverviewRequest(project=item.project, slicer=item.slicer, params=own, parts=parts, locale=language)


def empty_block(item: BoardItem) -> snapshots.Block:
    """The cell of a view that is gone, or that the reader may not see."""
    return snapshots.Block(snapshots.UNAVAILABLE, "", item.width, message=MISSING)


def block(
    item: BoardItem,
    copy: BoardCopy,
    focus: Focus,
    parts: Mapping[str, Any],
    address: str,
    sentences: Sequence[str],
) -> snapshots.Block:
    """A cell of a board from the answer to its request; `sentences` say which of its filters do not apply."""
    query = focus.query
    if item.part == "leaderboard" and focus.cards:
        key = focus.cards[0].name
        query = query.model_copy(update={"filters": filters.other_filters(query, key)})
        if query != focus.query:
            name = filters.field(key, focus.slicer)
            sentences = [*sentences, f"It ranks all values of {name}: the filter on it does not apply here."]
    _, left_out = state.read(item.params, focus.slicer, item.project, item.slicer)
    frame = snapshots.Block(
        straight(item.title or title(item, copy, focus)),
        straight(" · ".join(_about(item, focus, query))),
        item.width,
        address,
        notes=tuple(map(straight, (*sentences, *left_out))),
        text=straight(item.text),
    )
    answer = parts[PARTS[item.part]]
    if item.part in ("leaderboard", "table"):
        if not answer:
            has_split = bool(focus.query.split_by)
            reason = "No data for these filters and days." if has_split else "This view has no split."
            return replace(frame, message=reason)
        table = snapshot_table(answer[0], focus.numbers)
        about = f"{frame.about} · values: {table.about}" if table.about else frame.about
        return replace(frame, table=replace(table, title=frame.title, about=""), about=about)
    if answer["nothing"]:
        return replace(frame, message=answer["nothing"]["sentence"])
    if item.part == "headline":
        return replace(frame, figures=tuple(map(snapshot_figure, answer["figures"])))
    field = answer["fields"][answer["field"]]
    if not field["now"]:
        return replace(frame, message="This slicer has no time: there is nothing to draw over it.")
    if reason := reason_without_chart(answer, field):
        return replace(frame, message=reason)
    # The block's title says what the chart is of.
    return replace(frame, chart=replace(snapshot_chart(answer, field), title=frame.title))


def title(item: BoardItem, copy: BoardCopy, focus: Focus) -> str:
    """What a cell shows: its metrics, by what they are split, and whose of several slicers."""
    grain, card = () if focus.grain is None else (focus.grain,), focus.cards[0].name if focus.cards else ""
    metrics, keys = {
        "headline": (focus.headline, ()),
        "chart": ((focus.field.name,), grain),
        "leaderboard": ((focus.field.name,), (filters.field(card, focus.slicer),) if card else ()),
        "table": (focus.fields, [filters.field(name, focus.slicer) for name in focus.query.split_by]),
    }[item.part]
    titles = [numbers.title(focus.slicer.data_field(name)) for name in metrics]
    if len(titles) > MOST_LISTED:
        titles = [*titles[: MOST_LISTED - 1], f"{len(titles) - MOST_LISTED + 1} more"]
    sentence = " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1])))
    if keys:
        names = (key if key[1:2].isupper() else key[:1].lower() + key[1:] for key in keys)
        sentence += f" by {' and '.join(names)}"
    return f"{sentence} · {item.slicer}" if len(copy.slicers) > 1 else sentence


def _about(item: BoardItem, focus: Focus, query: AudienceQuery) -> Iterator[str]:
    """Which view, which days, of which clock, compared with which, and which rows: those of the query."""
    yield item.name
    yield numbers.days(*focus.period)
    if focus.query.timezone is not None:
        yield zones.title(focus.query.timezone)
    against = [numbers.days(*other.comparison.before) for other in focus.comparisons if other.comparison]
    if against:
        yield f"vs {' and '.join(against)}"
    descriptions = values.of_filters(focus.context, query)
    yield from filters.sentences(query, focus.slicer, descriptions, filters.MOST_NAMES)
    if focus.slicer.restrictions:
        yield f"only rows where {filters.restrictions(focus.slicer)}"
