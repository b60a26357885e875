"""Short sentences about features that a remote service lacks and Tranche can't emulate."""

from collections.abc import Iterable

from lib.reporting.models import DataField, ExportQuery, KeyField, Slicer
from lib.ui.charts.numbers import title

FILE = "The service decides the layout of the file: all its data fields, its own order of rows"


def of_a_file(slicer: Slicer, query: ExportQuery) -> str:
    """How a file of a plain service differs from its preview."""
    has_words = query.with_mappings and any(slicer.key_field(name).mapping for name in query.split_by)
    return f"{FILE}, descriptions next to the codes." if has_words else f"{FILE}."


def is_plain(slicer: Slicer) -> bool:
    """Whether the service implements the specification alone, without our extensions."""
    return not slicer.extensions


def has_words(slicer: Slicer, field: KeyField) -> bool:
    """Whether the service returns descriptions of a key field's values."""
    return not field.mapping or slicer.knows("include_mappings")


def codes(slicer: Slicer, names: Iterable[str]) -> list[str]:
    """A sentence that values are shown as codes; empty if that is so for no key field."""
    fields = [slicer.key_field(name) for name in names]
    coded = [field.description or field.name for field in fields if not has_words(slicer, field)]
    return [f"{', '.join(coded)} as codes: this service returns no descriptions."] if coded else []


def never_sent(slicer: Slicer, field: DataField) -> list[str]:
    """A sentence that an optional data field can't be requested."""
    if field.is_optional and not slicer.knows("data_fields"):
        return [f"This service does not return {title(field)}."]
    return []
