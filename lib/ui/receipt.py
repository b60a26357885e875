"""The receipt: the figures on the Audience screen beside those of the file.

The screen reads a sample, the file every record. The exact totals are those of the file's preview; where
the question has more records than an answer of `audience` reads, they come from a file without a split,
or, where the service has a layout of its own for files, from an answer without one.
"""

from dataclasses import dataclass

from lib.reporting.answers import Audience, Values
from lib.reporting.client import Reporting
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, DataField, ExportQuery, Slicer
from lib.ui.export_preview import Ask, Preview


@dataclass(frozen=True)
class Line:
    """One data field: its total on the screen with its 95 % range, and in the file. None: no value."""

    field: DataField
    shown: float | None
    low: float | None
    high: float | None
    exact: float | None

    @property
    def difference(self) -> float | None:
        """In the file, less on the screen; None where either has no value."""
        return None if self.shown is None or self.exact is None else self.exact - self.shown

    @property
    def is_estimate(self) -> bool:
        """Whether the screen's figure has a range."""
        return self.low is not None and self.high is not None and self.high > self.low


@dataclass(frozen=True)
class Receipt:
    """The lines, one per data field of the file, and the answer that the screen's figures are from.

    With `is_plain` the exact totals are those of all records, as far as the service reads them all for an
    answer: what its file has is its own affair.
    """

    lines: tuple[Line, ...]
    screen: Audience
    is_plain: bool = False

    @property
    def is_estimate(self) -> bool:
        """Whether any of the screen's figures is not exact."""
        return any(line.is_estimate for line in self.lines)


def receipt(
    ask: Ask, reporting: Reporting, question: AudienceQuery, file: Preview, slicer: Slicer
) -> Receipt:
    """The receipt of a file: `question` is what the Audience screen asks, `file` the preview."""
    names = tuple(map(str, file.rows.values))
    totals_only = {"split_by": (), "data_fields": names, "order_by": (), "limit": None, "offset": 0}
    screen = ask(question.model_copy(update=totals_only | {"precision": 1}))
    if file.is_exact:
        exact = file.rows.total.values
    elif file.is_plain:
        exact = _of_all(reporting, question.model_copy(update=totals_only), slicer)
    else:
        exact = _in_file(reporting, file.query, names, slicer)
    lines = tuple(_line(slicer.data_field(name), screen, exact) for name in names)
    return Receipt(lines, screen, file.is_plain)


def _line(field: DataField, screen: Audience, exact: Values) -> Line:
    total, name = screen.total, field.name
    return Line(field, total.values.get(name), total.low.get(name), total.high.get(name), exact.get(name))


def _of_all(reporting: Reporting, question: AudienceQuery, slicer: Slicer) -> Values:
    """The totals with the largest rows limit; none where that is a sample too."""
    whole = question.model_copy(update={"audience_rows_limit": ROWS_LIMITS[1]})
    answer = reporting.audience(whole, slicer)
    return answer.total.values if answer.total.confidence_range is None else {}


def _in_file(reporting: Reporting, query: ExportQuery, names: tuple[str, ...], slicer: Slicer) -> Values:
    """The totals from a file of one row; tsv2 has all digits."""
    whole = {"split_by": (), "data_fields": names, "order_by": (), "data_filters": (), "include_total": 0}
    asked = query.model_copy(update=whole | {"export_format": "tsv2"})
    header, row = reporting.export(asked, slicer).content.read().decode().splitlines()[:2]
    cells = zip(header.split("\t"), row.split("\t"), strict=True)
    return {name: float(cell) if cell else None for name, cell in cells}
