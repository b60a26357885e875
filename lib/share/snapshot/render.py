"""A snapshot as a file: HTML (`page.py`), PDF and PNG (`sheet.py`), and its chart alone as a picture.

What draws is imported when it does: matplotlib takes a second and 45 MB.
"""

from lib.share.snapshot import page
from lib.share.snapshot.models import Board, Chart, Snapshot

KINDS = {"html": "text/html", "pdf": "application/pdf", "png": "image/png"}


def file(snapshot: Snapshot | Board, kind: str, paper: str = "a4") -> bytes:
    """The file of that kind (`KINDS`); `paper` is that of a PDF: `a4` or `letter`."""
    if kind == "html":
        return page.html(snapshot).encode()
    from lib.share.snapshot import sheet

    return sheet.file(snapshot, kind, paper)


def picture(time_chart: Chart) -> bytes:
    """A chart as a picture (PNG)."""
    from lib.share.snapshot import chart

    return chart.picture(time_chart)
