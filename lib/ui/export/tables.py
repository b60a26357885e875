"""The preview and the receipt of a file as tables, and its request as JSON and as a curl command.

The token is never a real one: in JSON it is the specification's `<TOKEN>`, for curl a variable of the shell.
"""

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

import orjson
import pandas as pd
import streamlit as st

from lib.figures.numbers import NOTHING, Numbers, title
from lib.figures.query import precision
from lib.figures.rows import NO_RECEIPT, Cell, Column, Row, Table
from lib.reporting import files
from lib.reporting.client import PATH
from lib.reporting.files import FileTable
from lib.reporting.models import ExportQuery
from lib.ui.export.preview import Preview
from lib.ui.export.receipt import Receipt, ReceiptLine
from lib.ui.kit import rows_mount
from lib.ui.kit.markdown import plain

TOKEN, VARIABLE = "<TOKEN>", "TRANCHE_TOKEN"


def json_body(query: ExportQuery) -> str:
    """The body of the request, indented. Relative dates stay relative, for scripts that run daily."""
    return orjson.dumps(_body(query), option=orjson.OPT_INDENT_2).decode()


def curl_command(query: ExportQuery, address: str) -> str:
    """A command for a POSIX shell that downloads the file; `address` is the service's, without a path.

    It fails, and leaves no file, where the service answers an error.
    """
    body = shlex.quote(orjson.dumps(_body(query)).decode())
    # A value of a filter may be `<TOKEN>` too, and stays.
    head, _, tail = body.rpartition(TOKEN)
    name = re.sub(r"[^\w.-]", "_", query.slicer_name)
    parts = (
        f"curl --fail --silent --show-error --output {shlex.quote(f'{name}.{query.export_format}')}",
        "--header 'Content-Type: application/json'",
        f"--data {head}'\"${VARIABLE}\"'{tail}",
        shlex.quote(f"{address.rstrip('/')}{PATH}/export"),
    )
    return " \\\n  ".join(parts)


def _body(query: ExportQuery) -> dict[str, object]:
    """The body without default values, with the token last."""
    fields = query.model_dump(mode="json", exclude_defaults=True)
    first = {name: fields.pop(name) for name in ("slicer_name", "project_name")}
    return {**first, **fields, "token": TOKEN}


def preview(file: Preview, table: FileTable, numbers: Numbers) -> None:
    """The first rows of the file and its total, with all digits; between thousands marks, but in tsv2."""
    cells = files.preview_cells(table, file.query.export_format)
    is_raw = file.query.export_format == "tsv2"
    titles = [column.name if is_raw else column.description for column in table.columns]
    heads = [*zip(titles, [column.role == "data" for column in table.columns], strict=True)]
    for at, (_, is_number) in enumerate(heads):
        if is_number and not is_raw:
            cells[str(at)] = cells[str(at)].map(numbers.with_marks)
    _draw("preview", "First rows of the file", heads, cells, bool(file.adds_total and file.has_total))
    if not file.is_exact:
        exact = "" if file.is_plain else ", those of the file are not"
        st.caption(plain(f"Too many records to preview exactly: these rows are estimates{exact}."))
    if file.adds_total and not file.has_total:
        st.caption(plain("The file's total row is known only once the file is made."))


def _draw(
    key: str, label: str, heads: Sequence[tuple[str, bool]], cells: pd.DataFrame, has_total: bool = False
) -> None:
    """Draw lines that nobody clicks; `heads` are the titles, and whether they are of numbers."""
    columns = [Column(str(at), head, is_key=not is_number) for at, (head, is_number) in enumerate(heads)]
    lines = enumerate(cells.itertuples(index=False, name=None))
    rows = [Row([*map(Cell, line)], (("line", str(number)),), kind="plain") for number, line in lines]
    if has_total:
        rows[-1] = replace(rows[-1], kind="total")
    rows_mount.draw(key, [Table(key, label, columns, rows)], NO_RECEIPT, lambda: None)


def receipt(receipt: Receipt, numbers: Numbers) -> None:
    """The figures on the Audience screen beside those of the file, those that differ first."""
    for sentence in receipt_sentences(receipt, numbers):
        st.caption(plain(sentence))
    if not receipt.lines:
        return
    table = receipt_table(receipt, numbers)
    label = "Receipt: rows and totals on the Audience screen and in the file"
    _draw("receipt", label, [(str(title), at > 1) for at, title in enumerate(table)], table)


def receipt_sentences(receipt: Receipt, numbers: Numbers) -> Iterator[str]:
    """Sentences: what was compared, how many figures differ, and the largest difference."""
    if not receipt.lines:
        yield "The file has none of the data fields that the Audience screen shows."
        return
    count, differing = len(receipt.lines), receipt.differing
    rows = f"{numbers.number(receipt.rows)} row{'' if receipt.rows == 1 else 's'}"
    what = f"{rows} on the Audience screen and their totals" if receipt.rows else "The totals"
    exact = "all records" if receipt.is_plain else "the file"
    if not differing:
        yield f"{what}: all {numbers.number(count)} figures are those of {exact}."
    else:
        many = f"{numbers.number(len(differing))} of {numbers.number(count)}"
        yield f"{what}: {many} figures differ from those of {exact}."
        line = differing[0]
        kind = f"an estimate, {_off(line, numbers)}" if line.is_estimate else "exact"
        screen, in_file = (numbers.plain(value, line.field) for value in (line.screen, line.exact))
        figures = f"{screen} on the screen ({kind}), {in_file} in the file, {_relative(line, numbers)}"
        yield f"The most: {title(line.field)}, {line.row}: {figures}."
    left_out = len({line.row for line in receipt.lines if line.is_left_out})
    if left_out:
        yield f"The data filters leave {numbers.number(left_out)} of the rows out of the file."


def receipt_table(receipt: Receipt, numbers: Numbers) -> pd.DataFrame:
    """A line per figure: row, data field, figure on screen, its range, figure in the file, difference."""
    differing = receipt.differing
    lines = [*differing, *(line for line in receipt.lines if not line.differs)]
    cells = [
        (
            line.row,
            title(line.field, with_unit=True),
            numbers.plain(line.screen, line.field),
            _off(line, numbers) if line.is_estimate else "exact",
            "left out" if line.is_left_out else numbers.plain(line.exact, line.field),
            NOTHING if line.is_left_out else numbers.plain(line.difference, line.field),
            NOTHING if line.is_left_out else _relative(line, numbers),
        )
        for line in lines
    ]
    exact = "Of all records" if receipt.is_plain else "In the file"
    names = ["Row", "Data field", "On the Audience screen", "Precision", exact, "Difference", "Difference, %"]
    return pd.DataFrame(cells, columns=names)


def request(query: ExportQuery, address: str) -> None:
    """Draw the request for scripts."""
    as_json, as_curl = st.tabs(["JSON", "curl"])
    as_json.code(json_body(query), language="json")
    as_curl.code(curl_command(query, address), language="bash", wrap_lines=True)
    st.caption(f"Set a token of your own first: `export {VARIABLE}=…` in the shell before the command.")


def _off(line: ReceiptLine, numbers: Numbers) -> str:
    side = precision.half_range(line.low, line.high, line.screen)
    has_range = line.low is not None and line.high is not None and math.isfinite(side)
    return f"± {numbers.percent(side)}" if has_range else "too few records for an interval"


def _relative(line: ReceiptLine, numbers: Numbers) -> str:
    if line.difference is None or not math.isfinite(line.relative):
        return NOTHING
    return numbers.change(line.relative) if line.difference else "0"
