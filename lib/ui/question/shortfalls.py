"""What a service does not do and the desk can't do for it, in short sentences for where it matters."""

from collections.abc import Iterable

from lib.reporting.models import DataField, ExportQuery, KeyField, Slicer
from lib.ui.charts.numbers import title

FILE = "The service decides the layout of the file: all its data fields, its own order of rows"


def of_a_file(slicer: Slicer, query: ExportQuery) -> str:
    """In what the file of a plain service differs from its preview."""
    has_words = query.with_mappings and any(slicer.key_field(name).mapping for name in query.split_by)
    return f"{FILE}, descriptions next to the codes." if has_words else f"{FILE}."


def is_plain(slicer: Slicer) -> bool:
    """Whether its service knows the specification and nothing more: no promise of ours holds there."""
    return not slicer.extensions


def has_words(slicer: Slicer, field: KeyField) -> bool:
    """Whether the values of a key field come with their descriptions, where they have some."""
    return not field.mapping or slicer.knows("include_mappings")


def codes(slicer: Slicer, names: Iterable[str]) -> list[str]:
    """That values of key fields are shown as codes, as one sentence where this is so of any."""
    fields = [slicer.key_field(name) for name in names]
    coded = [field.description or field.name for field in fields if not has_words(slicer, field)]
    return [f"{', '.join(coded)} as codes: this service returns no descriptions."] if coded else []


def never_sent(slicer: Slicer, field: DataField) -> list[str]:
    """That a data field which has to be asked for can't be, as a sentence."""
    if field.is_optional and not slicer.knows("data_fields"):
        return [f"This service does not return {title(field)}."]
    return []
