"""A definition as a YAML file: read with errors that name line and field, written as a person would."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from lib.reporting.definition import (
    AudienceSourceDefinition,
    DataFieldDefinition,
    Definition,
    KeyFieldDefinition,
    TimeColumn,
)
from lib.reporting.definition.yaml_lines import Lines, Where, read_yaml
from lib.wire.errors import BadDefinition, UnknownName
from lib.wire.requirements import requirement

_PARTS: dict[str, type[BaseModel]] = {
    "time": TimeColumn,
    "key_fields": KeyFieldDefinition,
    "data_fields": DataFieldDefinition,
    "audience_sources": AudienceSourceDefinition,
}
_ORDER = list(Definition.model_fields)
_SENTENCES = {
    "missing": "is missing",
    "string_type": "should be text; put {input} in quotes",
    "string_too_short": "is empty",
    "string_pattern_mismatch": "has a quote or a control character, which a name can't have",
    "literal_error": "should be {expected}, not {input}",
    "tuple_type": "should be a list, each item with a dash before it",
    "model_type": "should be fields and values, as in {{name: site_id}}",
    "int_type": "should be a whole number, not {input}",
    "int_parsing": "should be a whole number, not {input}",
    "int_from_float": "should be a whole number, not {input}",
    "bool_type": "should be true or false, not {input}",
    "bool_parsing": "should be true or false, not {input}",
    "greater_than_equal": "should be at least {ge}, not {input}",
    "less_than_equal": "should be at most {le}, not {input}",
    "value_error": "{error}",
}


def read_definition(path: Path) -> Definition:
    """The definition in a YAML file. BadDefinition lists every problem, each with its line and field."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadDefinition([f"There is no definition file {path}"]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadDefinition([f"{path} can't be read as UTF-8 text: {error}"]) from None
    return parse_definition(text, path.name)


def parse_definition(text: str, file: str = "definition") -> Definition:
    """The definition in YAML text; `file` is what errors call it."""
    content, lines = read_yaml(text, file)
    if not isinstance(content, dict):
        raise BadDefinition(
            [f"{file}, line 1: a definition begins with fields such as time: and key_fields:"]
        )
    try:
        return Definition.model_validate(content)
    except ValidationError as error:
        problems = {_place(problem, lines): _sentence(problem) for problem in error.errors()}
    raise BadDefinition([f"{file}, {place} {words}" for place, words in problems.items()])


def definition_yaml(definition: Definition) -> str:
    """The definition as YAML, one line per field, without what is the default anyway."""
    content = definition.model_dump(mode="json", exclude_defaults=True) | {"timezone": definition.timezone}
    content["time"] = {"column": "", "granularity": definition.time.granularity} | content["time"]
    texts = []
    for name, value in sorted(content.items(), key=lambda item: _ORDER.index(item[0])):
        if isinstance(value, list) and isinstance(value[0] if value else None, dict):
            lines = ({"name": item["name"]} | item for item in value)
            texts += [f"{name}:\n", *(f"  - {_flow(line)}\n" for line in lines)]
        else:
            texts.append(f"{name}: {_flow(value)}\n")
    return "".join(texts)


def _flow(value: Any) -> str:
    text: str = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**6
    )
    return text.removesuffix("\n").removesuffix("\n...")


def _place(problem: ErrorDetails, lines: Lines) -> str:
    where = _where(problem)
    known = where
    while known not in lines and known:
        known = known[:-1]
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where).removeprefix(".")
    return f"line {lines.get(known, 1)}{f', {name}' if name else ''}:"


def _where(problem: ErrorDetails) -> Where:
    """The path in the document: pydantic adds the tried type to the path of a field of several types."""
    where = problem["loc"]
    if where[:2] == ("time", "column"):
        return where[:2]
    return where[:-1] if where[-2:-1] == ("segmented",) else where


def _sentence(problem: ErrorDetails) -> str:
    where = _where(problem)
    if problem["type"] == "extra_forbidden":
        return _unknown_field(where)
    if where and where[-1] == "segmented" and problem["type"] != "value_error":
        return "should be the separator in quotes, or true for a list column"
    if where == ("time", "column") and problem["type"] not in ("missing", "value_error"):
        return "should be the name of a column, or a list of names"
    template = _SENTENCES.get(problem["type"])
    if template is None:
        return requirement(problem["type"], problem.get("ctx"))
    return template.format(**{"input": _shown(problem["input"])} | problem.get("ctx", {}))


def _unknown_field(where: Where) -> str:
    model = _PARTS.get(str(where[0]), Definition) if len(where) > 1 else Definition
    return f"{UnknownName('field', str(where[-1]), model.model_fields)}"


def _shown(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
