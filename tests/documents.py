"""The Markdown documents of the repository, and the code blocks in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
NOTE = re.compile(
    r"<!-- (file|not run|returned by the command above)(?:: ([^\n]*?))?(?: -->|\n(.*?)-->)", re.S
)
FENCE = re.compile(r"```(\w*)\n(.*?)```", re.S)


@dataclass(frozen=True)
class Block:
    """A code block: its language, its text, and the note (a comment in Markdown) above it.

    `<!-- file: name -->` says that the text is that file's; with the text inside of the comment there is no
    block. `<!-- not run: reason -->` keeps a block from being run.
    """

    language: str
    text: str
    note: str = ""
    value: str = ""


def blocks(document: Path) -> Iterator[Block]:
    """The code blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    position, note = 0, None
    while found := re.compile(f"{NOTE.pattern}|{FENCE.pattern}", re.S).search(text, position):
        position = found.end()
        if found[1]:
            note = found
            if found[3]:
                yield Block("", found[3], "file", found[2])
                note = None
            continue
        yield Block(found[4] or "", found[5], note[1] if note else "", (note[2] or "") if note else "")
        note = None
