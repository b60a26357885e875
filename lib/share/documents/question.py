"""A question as a document: the figures of the board, in the end."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from lib.figures import numbers, palette, rows
from lib.figures.numbers import Numbers
from lib.figures.overview import moved
from lib.figures.overview.answer import Json
from lib.figures.palette import MINUS, STEPS
from lib.figures.query import filters, values
from lib.figures.query.focus import Focus
from lib.reporting import links
from lib.share.snapshot import models as snapshots
from lib.slicers import zones
from lib.wire.text import straight

SIZES = {letter: size for size, letter in STEPS}
Params = Mapping[str, str]
About = tuple[str, str]


def live_address(desk: str, about: About, params: Params) -> str:
    """The address of a question on the desk; empty where the desk's own is not known."""
    if not desk:
        return ""
    project, slicer = about
    return f"{desk}/{links.href('audience', {'project': project, 'slicer': slicer, **params})}"


def snapshot(
    focus: Focus, parts: Mapping[str, Any], title: str, address: str, has_movers: bool
) -> snapshots.Snapshot:
    """The figures of a question from the parts of the board; with the values that moved, if wanted."""
    head: Json = parts["head"]
    field: Json = head["fields"].get(head["field"], {})
    usual = f"{numbers.title(focus.field)} of {focus.context.slicer_name}, {numbers.days(*focus.period)}"
    tables = [snapshot_table(table, focus.numbers) for table in parts.get("split", ())]
    if has_movers and not head["nothing"] and focus.comparison is not None:
        movers = moved.compute(focus)
        table = snapshot_table(rows.as_json(moved.table(focus, movers)), focus.numbers)
        text = straight(" ".join([*moved.sentences(focus, movers), moved.notes(focus, movers)]))
        tables.append(snapshots.Table("What moved", "", table.columns, 2, table.rows, text))
    reason = reason_without_chart(head, field)
    return snapshots.Snapshot(
        title=straight(title or usual),
        facts=tuple(_facts(focus, head, field)),
        address=address,
        figures=tuple(map(snapshot_figure, head["figures"])),
        chart=snapshot_chart(head, field) if field and field["now"] and not reason else None,
        notes=(*filter(None, [reason]), *field.get("notes", ())),
        cards=tuple(snapshot_table(table, focus.numbers) for table in parts["cards"]),
        tables=tuple(tables),
        nothing=head["nothing"]["sentence"] if head["nothing"] else "",
    )


def _facts(focus: Focus, head: Json, field: Json) -> Iterator[tuple[str, str]]:
    """What the figures are about, of which days, how exact, and of when."""
    yield "Slicer", straight(f"{focus.context.project}/{focus.context.slicer_name}")
    yield "Days", numbers.days(*focus.period)
    if (zone := focus.query.timezone) is not None:
        yield "Time zone", zones.title(zone)
    against = [numbers.days(*side.comparison.before) for side in focus.comparisons if side.comparison]
    if against:
        yield "Compared with", "; ".join(against)
    descriptions = values.of_filters(focus.context, focus.query)
    yield "Filters", straight("; ".join(filters.sentences(focus.query, focus.slicer, descriptions))) or "None"
    for text in filters.figure_sentences(focus.view.data_filters, focus.slicer, focus.numbers):
        yield "Metric filters", straight(text)
    if focus.slicer.restrictions:
        yield "Limited to", straight(filters.restrictions(focus.slicer))
    if field:
        yield "Precision", field["precision"]
    yield "Freshness", focus.context.freshness
    if head["engine"]:
        yield "Source", head["engine"]
    yield "Taken", numbers.moment(datetime.now(UTC))


def snapshot_figure(figure: Json) -> snapshots.Figure:
    """A figure of the headline, as the board's route returns it."""
    parts = ("title", "text", "delta", "color", "range", "help", "is_noise")
    return snapshots.Figure(*(figure[part] for part in parts))


def reason_without_chart(head: Json, field: Json) -> str:
    """Why a data field has no chart, such as several currencies; empty where it has one."""
    nothing = field.get("nothing")
    return nothing["sentence"] if nothing and not head["values"] else ""


def snapshot_chart(head: Json, field: Json) -> snapshots.Chart:
    """The lines as the board draws them: of values, or of the period and those compared."""
    sides, buckets = field["drawn"] or field, head["buckets"]
    if head["values"]:
        values = head["values"]
        lines = [_line(value["label"], value["now"], value["color"]) for value in values]
        lines += [
            _line(f"{value['label']}, before", value["before"], value["color"], is_before=True)
            for value in values
            if value["before"]
        ]
    else:
        lines = [_line(head["period"]["label"], sides["now"])]
        before = zip(head["before"], sides["before"], head["buckets_before"], strict=False)
        lines += [
            _line(days["label"], line, palette.GRAY, is_before=True, names=tuple(earlier["names"]))
            for days, line, earlier in before
        ]
    if (second := head["second"]) is not None:
        lines.append(_line(second["label"], second, second["color"], is_beside=True))
    return snapshots.Chart(
        title=field["title"],
        alt=field["alt"],
        grain=head["grain"],
        names=buckets["names"],
        starts=buckets["starts"],
        parts=buckets["parts"],
        lines=lines,
        ticks=buckets["ticks"],
        has_zero=field["has_zero"],
        # notes of colleagues are not for whoever gets the file
        marks={
            mark["place"]: mark["text"]
            for mark in head["date_notes"]
            if not mark["owner"] and mark["place"] >= 0
        },
    )


def _line(label: str, line: Json, color: str = "", **more: Any) -> snapshots.Line:
    return snapshots.Line(
        label, line["values"], line["texts"], color, low=line["low"], high=line["high"], **more
    )


def snapshot_table(table: Json, reader: Numbers) -> snapshots.Table:
    """A table of the desk; its cells sort by the numbers that they say."""
    card = table["card"] or {"title": "Split", "about": "", "message": ""}
    keys = sum(column["is_key"] for column in table["columns"])
    rows = []
    for row in table["rows"]:
        cells = [
            snapshots.Cell(
                cell["text"],
                None if index < keys else number_of(cell, reader),
                cell["is_faint"],
                cell["bar"],
                cell["has_sides"],
                cell["about"],
            )
            for index, cell in enumerate(row["cells"])
        ]
        rows.append(snapshots.Row(cells, row["kind"], row["level"]))
    return snapshots.Table(
        title=card["title"],
        about=card["about"],
        columns=[column["title"] for column in table["columns"]],
        keys=keys,
        rows=rows,
        message=card["message"],
        change=next((index for index, column in enumerate(table["columns"]) if column["is_change"]), None),
    )


def number_of(cell: Json, reader: Numbers) -> float | None:
    """The number that a cell says, the whole one where its text is cut to three figures; None without one."""
    texts = [cell["about"].split(" · ")[0], cell["text"]] if cell["text"][-1:] in SIZES else [cell["text"]]
    for text in texts:
        digits = re.search(rf"\d[\d{re.escape(reader.group + reader.decimal)}]*", text)
        if digits is not None:
            number = float(digits[0].replace(reader.group, "").replace(reader.decimal, ".").rstrip("."))
            size = re.match(r"([kMBT])\b", text[digits.end() :])
            sign = -1 if MINUS in text[: digits.start()] else 1
            return sign * number * (SIZES[size[1]] if size else 1)
    return None
