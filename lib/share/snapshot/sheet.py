"""A snapshot on sheets of paper as PDF, or on one long sheet as PNG, drawn by matplotlib without a browser.

All measures are points, from the top left corner. A sheet is a list of blocks, one below the other.
"""

import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from lib.share.snapshot import chart, colors
from lib.share.snapshot.chart import ACCENT, DRAWING, GROUND, INK
from lib.share.snapshot.models import (
    Snapshot,
    SnapshotBlock,
    SnapshotBoard,
    SnapshotChart,
    SnapshotFigure,
    SnapshotRow,
    SnapshotTable,
)

PAPERS = {"a4": (595.28, 841.89), "letter": (612.0, 792.0)}
MARGIN, FOOT, DPI = 36.0, 20.0, 144
GRAY, RULE, SOFT = "#5d6875", "#d9dee4", "#f3f5f7"
COLORS = {**colors.LIGHT, "gray": GRAY}
TITLE, TEXT, SMALL = 15.0, 9.0, 7.0
LINE, ROW, CHART_HEIGHT, FIGURE_HEIGHT, ACROSS = 12.0, 13.0, 165.0, 52.0, 4
LEAST_COLUMN, KEY_SHARE, GAP = 48.0, 0.4, 16.0


@dataclass(frozen=True)
class Canvas:
    """A sheet being drawn: its figure, and axes over all of it in points."""

    figure: Figure
    axes: Axes
    size: tuple[float, float]

    def text(
        self, x: float, y: float, text: str, size: float = TEXT, color: str = INK, right: bool = False,
        bold: bool = False,
    ) -> None:  # fmt: skip
        """A text with its baseline at y, that begins (or ends) at x."""
        weight = "bold" if bold else "normal"
        self.axes.text(x, y, text, size=size, color=color, ha="right" if right else "left", weight=weight)

    def box(self, x: float, y: float, width: float, height: float, color: str, alpha: float = 1.0) -> None:
        self.axes.add_patch(Rectangle((x, y), width, height, color=color, alpha=alpha, lw=0))


@dataclass(frozen=True)
class Block:
    """A part that is never cut: its height, its drawing at x and y, and what goes above it on a new sheet."""

    height: float
    draw: Callable[[Canvas, float, float], None]
    head: "Block | None" = None


def pdf(snapshot: Snapshot | SnapshotBoard, paper: str) -> bytes:
    """The snapshot on sheets of paper, `a4` or `letter`, with the link and the page's number at the foot."""
    width, height = PAPERS[paper]
    with DRAWING:
        sheets = _sheets([*_blocks(snapshot, width - 2 * MARGIN)], height - 2 * MARGIN - FOOT)
        file = io.BytesIO()
        with PdfPages(file, metadata={"Title": snapshot.title, "Creator": "Tranche"}) as pages:
            for number, blocks in enumerate(sheets, 1):
                canvas = _canvas((width, height))
                _place(canvas, blocks)
                foot = f"Page {number} of {len(sheets)}"
                canvas.text(width - MARGIN, height - MARGIN, foot, SMALL, GRAY, right=True)
                address = fit(snapshot.address, width - 2 * MARGIN - 80, SMALL)
                canvas.axes.text(
                    MARGIN, height - MARGIN, address, size=SMALL, color=GRAY, url=snapshot.address or None
                )
                pages.savefig(canvas.figure)
    return file.getvalue()


def png(snapshot: Snapshot | SnapshotBoard) -> bytes:
    """The snapshot on one sheet that is as long as it needs, two pixels for a point."""
    width = PAPERS["letter"][0]
    with DRAWING:
        blocks = [*_blocks(snapshot, width - 2 * MARGIN)]
        canvas = _canvas((width, sum(block.height for block in blocks) + 2 * MARGIN))
        FigureCanvasAgg(canvas.figure)
        _place(canvas, blocks)
        file = io.BytesIO()
        canvas.figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return file.getvalue()


def _canvas(size: tuple[float, float]) -> Canvas:
    figure = Figure(figsize=(size[0] / 72, size[1] / 72), dpi=72, facecolor=GROUND)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, size[0]), ylim=(size[1], 0))
    axes.set_axis_off()
    return Canvas(figure, axes, size)


def _place(canvas: Canvas, blocks: Sequence[Block]) -> None:
    y = MARGIN
    for block in blocks:
        block.draw(canvas, MARGIN, y)
        y += block.height


def _sheets(blocks: Sequence[Block], height: float) -> list[list[Block]]:
    """The blocks on as many sheets as they need."""
    sheets: list[list[Block]] = [[]]
    rest = height
    for block in blocks:
        if block.height > rest and sheets[-1]:
            above = [] if block.head is None else [block.head]
            sheets.append(above)
            rest = height - sum(block.height for block in above)
        sheets[-1].append(block)
        rest -= block.height
    return sheets


def _blocks(snapshot: Snapshot | SnapshotBoard, width: float) -> Iterator[Block]:
    for line in wrap(snapshot.title, width, TITLE):
        yield _line(line, TITLE, INK, bold=True)
    yield from _paragraph("  ·  ".join(f"{name}: {text}" for name, text in snapshot.facts), width)
    if isinstance(snapshot, SnapshotBoard):
        for block in snapshot.blocks:
            yield from _board_block(block, width)
        return
    if snapshot.nothing:
        yield _space(GAP)
        yield from _paragraph(snapshot.nothing, width, INK)
    yield _space(8)
    for start in range(0, len(snapshot.figures), ACROSS):
        yield _figures(snapshot.figures[start : start + ACROSS], width)
    if snapshot.chart is not None:
        yield _chart(snapshot.chart, width)
    for note in snapshot.notes:
        yield from _paragraph(note, width)
    half = (width - GAP) / 2
    for start in range(0, len(snapshot.cards), 2):
        yield _beside([_card(card, half) for card in snapshot.cards[start : start + 2]], half + GAP)
    for table in snapshot.tables:
        yield from _table(table, width)


def _board_block(block: SnapshotBlock, width: float) -> Iterator[Block]:
    """A cell of a board; its title stays with what follows it."""
    top = [
        _space(GAP),
        _line(fit(block.title, width, 11), 11, INK, bold=True),
        *_paragraph(block.about, width),
    ]
    parts = [
        _figures(block.figures[start : start + ACROSS], width)
        for start in range(0, len(block.figures), ACROSS)
    ]
    parts += [] if block.chart is None else [_chart(block.chart, width)]
    parts += [] if block.table is None else [*_table(block.table, width)]
    for note in (*block.notes, *filter(None, [block.message])):
        parts += _paragraph(note, width)
    yield _below([*top, *parts[:1]])
    yield from parts[1:]


def _space(height: float) -> Block:
    return Block(height, lambda canvas, x, y: None)


def _line(text: str, size: float, color: str, bold: bool = False) -> Block:
    height = size * 1.4
    return Block(height, lambda canvas, x, y: canvas.text(x, y + size, text, size, color, bold=bold))


def _paragraph(text: str, width: float, color: str = GRAY) -> Iterator[Block]:
    for line in wrap(text, width, TEXT):
        yield _line(line, TEXT, color)


def _figures(figures: Sequence[SnapshotFigure], width: float) -> Block:
    """Figures side by side, each on a ground of its own."""
    step = width / ACROSS

    def draw(canvas: Canvas, x: float, y: float) -> None:
        for index, figure in enumerate(figures):
            left, space = x + index * step, step - 18
            canvas.box(left, y, step - 6, FIGURE_HEIGHT - 6, SOFT)
            canvas.text(left + 6, y + 12, fit(figure.title, space, 8), 8)
            canvas.text(left + 6, y + 28, fit(figure.text, space, 13), 13, bold=True)
            parts = "  ".join(filter(None, (figure.delta, figure.range)))
            canvas.text(left + 6, y + 40, fit(parts, space, SMALL), SMALL, COLORS.get(figure.color, GRAY))

    return Block(FIGURE_HEIGHT, draw)


def _chart(time_chart: SnapshotChart, width: float) -> Block:
    names = chart.names_height(time_chart, 8)

    def draw(canvas: Canvas, x: float, y: float) -> None:
        canvas.text(x, y + 14, f"{time_chart.title} by {time_chart.grain}", 10, bold=True)
        wide, high = canvas.size
        top, bottom, left, right = y + 22 + names, y + names + CHART_HEIGHT - 16, x + 34, x + width - 34
        rect = (left / wide, 1 - bottom / high, (right - left) / wide, (bottom - top) / high)
        axes = canvas.figure.add_axes(rect)
        chart.plot(axes, time_chart, right - left, 8)
        chart.name_lines(axes, time_chart, 8)

    return Block(names + CHART_HEIGHT + 8, draw)


def _beside(blocks: Sequence[Block], step: float) -> Block:
    def draw(canvas: Canvas, x: float, y: float) -> None:
        for index, block in enumerate(blocks):
            block.draw(canvas, x + index * step, y)

    return Block(max(block.height for block in blocks), draw)


def _card(table: SnapshotTable, width: float) -> Block:
    return _below([*_table(table, width)])


def _below(blocks: Sequence[Block]) -> Block:
    """Blocks one below the other as one, which is not cut."""

    def draw(canvas: Canvas, x: float, y: float) -> None:
        for block in blocks:
            block.draw(canvas, x, y)
            y += block.height

    return Block(sum(block.height for block in blocks), draw)


def _table(table: SnapshotTable, width: float) -> Iterator[Block]:
    """Title, header and a block per row; the columns that fit, the first ones."""
    top = [_space(10), _title(table, width), *_paragraph(table.message, width)]
    if not table.rows:
        yield from top
        return
    space = width * (1 - KEY_SHARE * (1.25 if table.keys > 1 else 1))
    figures = min(len(table.columns) - table.keys, int(space // LEAST_COLUMN))
    columns = [*range(table.keys + figures)]
    edges = _edges(table.keys, figures, width)
    head = _head([table.columns[index] for index in columns], table.keys, edges)
    first, *others = (_row(row, table.keys, edges, head) for row in table.rows)
    yield _below([*top, head, first])
    yield from others
    if (missing := len(table.columns) - len(columns)) > 0:
        yield from _paragraph(f"{missing} more columns are in the HTML file.", width)


def _title(table: SnapshotTable, width: float) -> Block:
    title = fit(table.title, width * 0.6, 10)
    inset = _width(title, 10) * 1.12 + 8

    def draw(canvas: Canvas, x: float, y: float) -> None:
        canvas.text(x, y + 10, title, 10, bold=True)
        canvas.text(x + inset, y + 10, fit(table.about, width - inset, 8), 8, GRAY)

    return Block(14, draw)


def _edges(keys: int, figures: int, width: float) -> list[float]:
    """The left edges of columns and the right edge of the last: names share what figures leave."""
    step = min(84.0, width * 0.6 / max(figures, 1)) if figures else 0.0
    name = (width - step * figures) / keys
    return [*(name * index for index in range(keys)), *(name * keys + step * n for n in range(figures + 1))]


def _head(titles: Sequence[str], keys: int, edges: Sequence[float]) -> Block:
    sizes = [right - left - 3 for left, right in itertools.pairwise(edges)]
    lines = [wrap(title, space, SMALL)[:3] for title, space in zip(titles, sizes, strict=True)]
    height = 9.0 * max(map(len, lines)) + 5

    def draw(canvas: Canvas, x: float, y: float) -> None:
        for index, texts in enumerate(lines):
            at = x + (edges[index] if index < keys else edges[index + 1] - 3)
            for row, text in enumerate(reversed(texts)):
                short = fit(text, sizes[index], SMALL)
                canvas.text(at, y + height - 4 - 9 * row, short, SMALL, GRAY, right=index >= keys)
        canvas.box(x, y + height - 0.5, edges[-1], 0.5, RULE)

    return Block(height, draw)


def _row(row: SnapshotRow, keys: int, edges: Sequence[float], head: Block) -> Block:
    def draw(canvas: Canvas, x: float, y: float) -> None:
        if row.kind != "row":
            canvas.box(x, y, edges[-1], ROW, SOFT)
        for index, cell in enumerate(row.cells[: len(edges) - 1]):
            left, space = edges[index], edges[index + 1] - edges[index]
            if cell.bar is not None:
                middle = space / 2 if cell.has_sides else 0.0
                length = cell.bar[0] * (space / 2 if cell.has_sides else space - 4)
                canvas.box(x + left + middle + min(length, 0), y + 1.5, abs(length), ROW - 3, ACCENT, 0.18)
            color, inset = GRAY if cell.is_faint else INK, 8.0 * (row.level - 1) * (index == 0)
            text = fit(cell.text, space - 6 - inset, 8)
            at = x + (left + 2 + inset if index < keys else edges[index + 1] - 3)
            canvas.text(at, y + ROW - 4, text, 8, color, right=index >= keys)
        canvas.box(x, y + ROW - 0.4, edges[-1], 0.4, RULE)

    return Block(ROW, draw, head)


@lru_cache(maxsize=20_000)
def _width(text: str, size: float) -> float:
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return float(width)


def fit(text: str, width: float, size: float) -> str:
    """The text, cut at its end where it is wider than the room."""
    if _width(text, size) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _width(text[:middle] + "…", size) <= width else (low, middle - 1)
    return f"{text[:low]}…"


def wrap(text: str, width: float, size: float) -> list[str]:
    """The text in lines that fit the room, none if it is empty; a longer word is cut."""
    lines = [""] if text.strip() else []
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [fit(line, width, size) for line in lines]
