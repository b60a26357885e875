"""Reads files of the format tsv2, which have raw values and all digits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

import pandas as pd

from lib.reporting.answers import Audience, Total
from lib.reporting.models import ExportQuery, Slicer

Export = Callable[[ExportQuery], IO[bytes]]
DESCRIPTION = ".description"


@dataclass(frozen=True)
class RawFile:
    """The lines of a file as text, a column per title; the last is the total where `has_total`."""

    lines: pd.DataFrame
    split_by: tuple[str, ...]
    has_total: bool

    @property
    def rows(self) -> int:
        """The number of rows without the total."""
        return len(self.lines) - self.has_total

    @property
    def data_fields(self) -> list[str]:
        """The titles of its data columns, which come last."""
        keys = {*self.split_by, *(f"{name}{DESCRIPTION}" for name in self.split_by)}
        return [str(title) for title in self.lines if title not in keys]

    def first(self, count: int) -> Audience:
        """The first rows as an Audience with the file's total; missing values if the file has no total."""
        part = self.lines.head(min(count, self.rows))
        keys = [*self.split_by, *(f"{name}{DESCRIPTION}" for name in self.split_by)]
        texts = part[[key for key in keys if key in part]]
        frame = texts[[title for title in texts if title not in self.split_by]]
        total = self.lines.iloc[-1] if self.has_total else pd.Series("", self.lines.columns)
        return Audience(
            names=texts[list(self.split_by)],
            values=part[self.data_fields].map(_number).astype("float64"),
            percents=pd.DataFrame(index=part.index),
            total=Total({name: _number(total[name]) for name in self.data_fields}, self.rows),
            descriptions=frame.rename(columns=lambda title: title.removesuffix(DESCRIPTION))
            if frame.shape[1]
            else None,
        )


def read(export: Export, query: ExportQuery, slicer: Slicer) -> RawFile:
    """Export `query` as tsv2, with texts as they are, and read the file. Raises what `export` does."""
    as_they_are = {"escape_formulas": 0} if slicer.knows("escape_formulas") else {}
    query = query.model_copy(update={"export_format": "tsv2", **as_they_are})
    lines = pd.read_csv(
        export(query),
        sep="\t",
        dtype=str,
        na_filter=False,
        lineterminator="\n",
        skip_blank_lines=False,
    )
    return RawFile(lines, query.split_by, bool(query.include_total and query.split_by))


def _number(cell: str) -> float | None:
    return float(cell) if cell else None
