"""Search for fields of a slicer, their rows in a list, and the details of one field."""

from collections.abc import Sequence
from typing import TypeVar

from lib.reporting.models import DataField, KeyField

Field = TypeVar("Field", KeyField, DataField)
TYPES = {"text": "text", "int": "number"}
SEGMENTED = "segmented"


def matching(fields: Sequence[Field], text: str) -> list[Field]:
    """The fields that contain every word of `text`, ignoring case; all fields without a word."""
    words = text.casefold().split()
    return [field for field in fields if all(word in _search_text(field) for word in words)]


def chosen_field(matches: Sequence[Field], name: str) -> str:
    """The field of that name if the search finds it or finds nothing; else the first one found."""
    names = [field.name for field in matches]
    return name if name in names or not names else names[0]


def row(field: KeyField | DataField) -> tuple[str, str, str, str]:
    """What a field is called, its type, its mapping or formula, and its name in requests."""
    source = field.formula if isinstance(field, DataField) else field.mapping
    return field.description or field.name, _type(field), source or "", field.name


def about(field: KeyField | DataField) -> list[str]:
    """Details of a field that are not in its row of the table, as short texts."""
    texts = [field.annotation or ""]
    if isinstance(field, DataField):
        texts = [f"= {field.formula}" if field.formula else "", field.formula_description or "", *texts]
    elif field.is_segmented:
        texts.append("a record can have several values: shares can add up to more than 100 %")
    return [text for text in texts if text]


def _type(field: KeyField | DataField) -> str:
    if isinstance(field, DataField):
        places = field.display_precision
        return f"{places} decimal{'s' * (places > 1)}" if places else "whole"
    plain = TYPES.get(field.type, field.type)
    return f"{plain}, {SEGMENTED}" if field.is_segmented else plain


def _search_text(field: KeyField | DataField) -> str:
    more = (field.formula, field.formula_description) if isinstance(field, DataField) else (field.mapping,)
    texts = (field.name, field.description, field.annotation, _type(field), *more)
    return "\n".join(text for text in texts if text).casefold()
