"""File names of exports, and the headers of their responses."""

import datetime as dt
import re
import unicodedata
from urllib.parse import quote

from lib.reporting.formats import FORMATS, ExportFormat

MAX_SLICER_CHARACTERS = 100


def media_type(export_format: ExportFormat) -> str:
    """The Content-Type of a file."""
    return FORMATS[export_format].media_type


def filename(slicer: str, start: dt.date, end: dt.date, export_format: ExportFormat) -> str:
    """`<slicer>_<start>_<end>.<format>`, without invisible characters or those that file systems reject."""
    seen = "".join("_" if unicodedata.category(character)[0] in "CZ" else character for character in slicer)
    name = re.sub(r'[\\/:*?"<>|]', "_", seen)[:MAX_SLICER_CHARACTERS].strip("._") or "report"
    return f"{name}_{start}_{end}.{export_format}"


def content_disposition(slicer: str, start: dt.date, end: dt.date, export_format: ExportFormat) -> str:
    """The Content-Disposition header of a file (RFC 6266): its name in ASCII, and whole in `filename*`."""
    name = filename(slicer, start, end, export_format)
    plain = re.sub(r"[^ -~]|[%;]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
