"""Meanings of search words: "france" is the country FR.

The names come from the report: the mappings of the key fields that targeting is about, in the slicer that is
picked. Where the report has no mapping, or can't be asked, a search finds places by their codes alone.
"""

from collections.abc import Iterator

from lib.insight.kinds import KINDS, key_field
from lib.reporting.models import KeyField
from lib.ui.deals import catalogue
from lib.ui.deals.list_search import words
from lib.ui.kit import slicer_info
from lib.ui.kit.frame import PageContext
from lib.ui.query import values
from lib.wire.errors import TrancheError

MOST = 20


def of(context: PageContext, text: str) -> tuple[str, ...]:
    """The values of targeting with a word of the text at the start of a word of their description, as the
    service's `meaning`: `france:country:FR`."""
    if context.slicer is slicer_info.NOTHING:
        return ()
    fields = {kind.name: field for kind in KINDS if (field := _key_field(context, kind.name)) is not None}
    return tuple(
        f"{word}:{name}:{code}"
        for word in words(text)
        for name, field in fields.items()
        for code in _codes(context, field, word)
    )


def _key_field(context: PageContext, name: str) -> KeyField | None:
    """The key field of a kind of targeting, if the report has descriptions for its values."""
    kind = next(one for one in KINDS if one.name == name)
    field = None if kind.is_list else key_field(kind, context.slicer)
    return field if field is not None and field.mapping else None


def _codes(context: PageContext, field: KeyField, word: str) -> Iterator[str]:
    try:
        found = values.value_options(context, catalogue.usual_days(context), field.name, word).described
    except TrancheError:
        return
    names = [code for code, words in found.items() if f" {words.casefold()}".find(f" {word}") >= 0 and code]
    yield from names[:MOST]
