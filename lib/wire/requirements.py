"""Validation messages in plain words, as pydantic's own speak of Python types."""

from collections.abc import Mapping
from typing import Any

WORDS = {
    "missing": "is required",
    "extra_forbidden": "is not a field of the request",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "too_short": "may not be empty",
    "too_long": "may have at most {max_length} elements",
    "string_type": "must be text",
    "string_unicode": "must be text in Unicode",
    "string_too_short": "may not be empty",
    "string_too_long": "may have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "may be at most {le}",
    "literal_error": "must be {expected}",
    "value_error": "{error}",
    "definition": "{reason}",
}


def requirement(kind: str, context: Mapping[str, Any] | None = None) -> str:
    """`must be a whole number`, for the type and the context of one of pydantic's errors."""
    return WORDS.get(kind, "has a value that is not allowed here").format(**(context or {}))
