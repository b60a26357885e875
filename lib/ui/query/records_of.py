"""Whose records the tab of rows shows: the values that were clicked, as a part of a page's state."""

from dataclasses import dataclass
from typing import Self

from lib.reporting.links import join_texts, split_texts
from lib.reporting.models import Slicer


@dataclass(frozen=True)
class RecordsOf:
    """Whose records are shown: of the values of key fields beside the page's filters; without any, of all.

    Where `is_card` they are those of a leaderboard, in which no filter on its own key field holds.
    """

    values: tuple[tuple[str, str], ...] = ()
    is_card: bool = False

    @property
    def text(self) -> str:
        """It as a URL parameter."""
        parts = [text for value in self.values for text in value]
        return join_texts(["card" if self.is_card else "row", *parts]) if parts else ""

    @classmethod
    def parse(cls, text: str, slicer: Slicer) -> Self:
        """The values that a parameter names; none where the slicer lacks one of the key fields."""
        kind, *parts = split_texts(text)
        values = tuple(zip(parts[::2], parts[1::2], strict=False))
        keys = {field.name for field in slicer.key_fields}
        return cls(values, kind == "card") if keys.issuperset(name for name, _ in values) else cls()


OF_THE_QUESTION = RecordsOf()
