"""Mappings of codes to descriptions: reads them from CSV, and stores them with a slicer."""

import csv
import hashlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path

from lib.wire.errors import ImportRefused, Misconfigured

FOLDER = "mappings"
_HEADERS = {"code", "key", "id", "value"}, {"name", "description", "title", "label", "text", "value"}


def read_mapping(path: Path) -> dict[str, str]:
    """Code → description from a CSV file of two columns, UTF-8, with or without a `code,name` header.

    ImportRefused names the file and line of anything that is not two columns.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ImportRefused(f"There is no mapping file {path}") from None
    except UnicodeDecodeError as error:
        raise ImportRefused(f"{path} is not UTF-8 (byte {error.start + 1}); save it as UTF-8") from None
    if not text.strip():
        raise ImportRefused(f"{path} is empty; a mapping has two columns, code and name")
    mapping: dict[str, str] = {}
    reader = csv.reader(io.StringIO(text, newline=""))
    for number, row in enumerate(reader):
        if row and not (number == 0 and _is_header(row)):
            _add(mapping, row, f"{path}, line {reader.line_num}")
    return mapping


def _is_header(row: list[str]) -> bool:
    return len(row) == 2 and all(
        cell.strip().lower() in names for cell, names in zip(row, _HEADERS, strict=True)
    )


def _add(mapping: dict[str, str], row: list[str], where: str) -> None:
    if len(row) != 2:
        raise ImportRefused(f"{where}: a mapping has two columns, code and name; this line has {len(row)}")
    code, description = (cell.strip() for cell in row)
    if mapping.get(code, description) != description:
        raise ImportRefused(
            f"{where}: code '{code}' is given twice, as '{mapping[code]}' and '{description}'"
        )
    mapping[code] = description


def store_mapping(folder: Path, mapping: Mapping[str, str]) -> str:
    """Store a mapping in a slicer's folder; returns the relative path, which contains the digest."""
    content = json.dumps(dict(sorted(mapping.items())), ensure_ascii=False).encode()
    relative = f"{FOLDER}/{_digest_name(content)}"
    path = folder / relative
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    return relative


def stored_mapping(path: Path) -> dict[str, str]:
    """Read a mapping written by `store_mapping`. Misconfigured if it does not match its digest."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    if _digest_name(content) != path.name:
        raise _unreadable(path, "its bytes are not those that were written")
    mapping: dict[str, str] = json.loads(content)
    return mapping


def _digest_name(content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()[:32]}.json"


def _unreadable(path: Path, why: str) -> Misconfigured:
    return Misconfigured(
        f"{path} holds a mapping and can't be read: {why}. Restore the file from a backup, or import with "
        "--mapping again"
    )
