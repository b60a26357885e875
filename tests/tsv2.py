"""A strict reader of tsv2, as decisions.md has it: lines, tabs and backslash escapes, nothing else."""

import re

ESCAPES = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r", "0": "\0"}
CELL = re.compile(r"(?:[^\\\t\n\r\0]|\\[\\tnr0])*")


def read_tsv2(content: bytes) -> list[list[str | None]]:
    """The cells of each line, the header first; None for a missing number. ValueError for anything else."""
    text = content.decode()
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    return [[*map(_cell, line.split("\t"))] for line in text[:-1].split("\n")]


def _cell(cell: str) -> str | None:
    if cell == "\\N":
        return None
    if not CELL.fullmatch(cell):
        raise ValueError(f"no cell of tsv2: {cell!r}")
    return re.sub(r"\\(.)", lambda escape: ESCAPES[escape[1]], cell)
