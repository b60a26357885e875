"""A snapshot as a file: HTML (`page.py`), PDF and PNG (`sheet.py`), and its chart alone as a picture.

What draws is imported when it does: matplotlib takes a second and 45 MB.
"""

from lib.share.snapshot import page
from lib.share.snapshot.models import Snapshot, SnapshotBoard, SnapshotChart

KINDS = {"html": "text/html", "pdf": "application/pdf", "png": "image/png"}


def file(snapshot: Snapshot | SnapshotBoard, kind: str, paper: str = "a4") -> bytes:
    """The file of that kind (`KINDS`); `paper` is that of a PDF: `a4` or `letter`."""
    if kind == "html":
        return html(snapshot).encode()
    from lib.share.snapshot import sheet

    return sheet.file(snapshot, kind, paper)


def html(snapshot: Snapshot | SnapshotBoard) -> str:
    """One HTML file that makes no network requests."""
    return page.board_html(snapshot) if isinstance(snapshot, SnapshotBoard) else page.html(snapshot)


def chart_png(snapshot: Snapshot) -> bytes | None:
    """The chart over time as a picture; None where there is none."""
    return None if snapshot.chart is None else picture(snapshot.chart)


def picture(time_chart: SnapshotChart) -> bytes:
    """A chart as a picture (PNG)."""
    from lib.share.snapshot import chart

    return chart.picture(time_chart)
