"""A snapshot on sheets of paper as PDF, or on one long sheet as PNG, laid out by Typst (`sheet.typ`).

Texts are data of the layout and never its markup, whatever they are.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import orjson
import typst

from lib.share.snapshot import chart, page
from lib.share.snapshot.models import Board, Chart, Snapshot

LAYOUT = Path(__file__).with_suffix(".typ").read_bytes()
FONTS = typst.Fonts(font_paths=[f"{mpl.get_data_path()}/fonts/ttf"])
"""The font that matplotlib brings, and those of the system."""


def file(snapshot: Snapshot | Board, kind: str, paper: str) -> bytes:
    """`kind` `pdf`: on sheets of `paper` (`a4`, `letter`), with the link and the page's number at the foot;
    `png`: on one sheet that is as long as it needs, two pixels for a point.
    """
    sheet = {**vars(snapshot), "paper": paper, "is_long": kind == "png", "colors": page.LIGHT}
    data = orjson.dumps(sheet, _values, orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_NON_STR_KEYS)
    return typst.compile(
        LAYOUT,
        font_paths=FONTS,
        format="png" if kind == "png" else "pdf",
        sys_inputs={"sheet": data.decode()},
    )


def _values(part: Any) -> dict[str, Any]:
    """The values of a part of a snapshot, of a chart its drawing."""
    if isinstance(part, Chart):
        svg = chart.picture(part, "svg").decode()
        return {"title": part.title, "grain": part.grain, "alt": part.alt, "svg": svg}
    return {**vars(part)}
