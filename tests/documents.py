"""The Markdown documents of the repository, and the code blocks in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
NOTE = re.compile(r"<!-- (not run|returned by the command above)(?:: ([^\n]*?))? -->")
FENCE = re.compile(r"```(\w*)\n(.*?)```", re.S)
NAMED = re.compile(r"`([\w.-]+\.\w+)`:\s*$")


@dataclass(frozen=True)
class Block:
    """A code block: its language, its text, and what is said above it.

    A file's block follows a line that ends with its name, as readers see it: "Save this as `a.csv`:". The
    comment `<!-- not run: reason -->` keeps a block from being run.
    """

    language: str
    text: str
    note: str = ""
    value: str = ""


def blocks(document: Path) -> Iterator[Block]:
    """The code blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    position, note = 0, None
    while match := re.compile(f"{NOTE.pattern}|{FENCE.pattern}", re.S).search(text, position):
        named = NAMED.search(text[position : match.start()])
        position = match.end()
        if match[1]:
            note = match
            continue
        about = ("file", named[1]) if named else (note[1], note[2] or "") if note else ("", "")
        yield Block(match[3] or "", match[4], *about)
        note = None
