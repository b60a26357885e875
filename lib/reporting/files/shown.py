"""The cells of a file as displayed, for a preview without writing the file."""

import pandas as pd

from lib.reporting.files.delimited import written
from lib.reporting.files.numbers import displayed
from lib.reporting.files.table import FileColumn, FileTable
from lib.reporting.formats import FORMATS, ExportFormat

ROWS = 10_000


def shown(table: FileTable, export_format: ExportFormat) -> pd.DataFrame:
    """The cells of a file's lines as text, the total last; columns by their place.

    They come out of the functions that write the file: what quotes or a workbook's cells hold, and numbers
    with the digits that the format writes (a workbook: that it shows).
    """
    pieces = [
        pd.DataFrame(
            {str(at): _texts(c, piece, export_format) for at, c in enumerate(piece.columns)}, dtype="str"
        )
        for piece in table.pieces(ROWS)
    ]
    return pd.concat(pieces, ignore_index=True)


def _texts(column: FileColumn, table: FileTable, export_format: ExportFormat) -> list[str]:
    make = FORMATS[export_format].dialect
    dialect = None if make is None else make()
    if dialect is not None:
        texts = written(column, dialect, table)
    else:
        texts = displayed(column.numbers(), column.decimals) if column.is_number() else column.texts()
    found: list[str] = texts.to_pylist()
    return found
