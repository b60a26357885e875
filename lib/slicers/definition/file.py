"""A definition as a YAML file: read with errors that name line and field, written as a person would."""

import re
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from lib.slicers.definition import (
    AudienceSourceDefinition,
    DataFieldDefinition,
    Definition,
    KeyFieldDefinition,
    TimeColumn,
)
from lib.wire.errors import BadDefinition, UnknownName, requirement
from lib.wire.shallow_yaml import ShallowLoader

Where = tuple[str | int, ...]
Lines = dict[Where, int]
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


def read_yaml(text: str, file: str) -> tuple[Any, Lines]:
    """The content of a YAML document, and the line (from 1) of every value in it, by its path.

    Scalars follow YAML 1.2: only true and false are booleans, dates are text. Anchors, tags of one's own
    and keys that stand twice are BadDefinition, as is whatever is no YAML; `file` is what errors call it.
    """
    try:
        node = _Loader(text).get_single_node()
        lines: Lines = {}
        return (None if node is None else _Content(file, lines).value(node, ())), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        is_sign, hint = "cannot start any token" in str(error), "put values that begin with % or @ in quotes"
        why = f"{error.problem or error.context}{f'; {hint}' if is_sign else ''}"
        raise BadDefinition([f"{file}{line}: {why}"]) from None
    except yaml.YAMLError as error:
        raise BadDefinition([f"{file}: {error}"]) from None


class _Loader(ShallowLoader):
    """Only the scalars of YAML 1.2's core."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            problem = "write the value again instead of an *alias"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        return super().compose_node(parent, index)


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]{1,18}", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first))


class _Content:
    """Turns nodes into values, noting their lines."""

    def __init__(self, file: str, lines: Lines) -> None:
        self._file, self._lines = file, lines

    def value(self, node: Node, where: Where) -> Any:
        self._lines.setdefault(where, node.start_mark.line + 1)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*where, position)) for position, item in enumerate(node.value)]
        if not isinstance(node, MappingNode):
            return self._scalar(node)
        content: dict[str, Any] = {}
        for key, value in node.value:
            name = self._scalar(key) if isinstance(key, ScalarNode) else None
            if not isinstance(name, str):
                self._refuse(key, "the name of a field is text; put it in quotes")
            if name in content:
                self._refuse(key, f"'{name}' is given twice")
            self._lines[(*where, name)] = key.start_mark.line + 1
            content[name] = self.value(value, (*where, name))
        return content

    def _scalar(self, node: Node) -> str | int | float | bool | None:
        kind, text = node.tag.removeprefix("tag:yaml.org,2002:"), str(node.value)
        if kind == "str":
            return text
        if kind == "bool":
            return text.lower() == "true"
        if kind == "null":
            return None
        if kind not in ("int", "float"):
            self._refuse(node, f"a value can't have the tag {node.tag}")
        return int(text) if kind == "int" else float(text)

    def _refuse(self, node: Node, reason: str) -> NoReturn:
        raise BadDefinition([f"{self._file}, line {node.start_mark.line + 1}: {reason}"])


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
        reason = "a definition begins with fields such as time: and key_fields:"
        raise BadDefinition([f"{file}, line 1: {reason}"])
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
            texts += [f"{name}:\n", *(f"  - {flow(line)}\n" for line in lines)]
        else:
            texts.append(f"{name}: {flow(value)}\n")
    return "".join(texts)


# libyaml's writer takes a sixth of the time, but escapes emoji and whatever else is beyond U+FFFF.
_FAST_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def flow(value: Any) -> str:
    """A value as YAML in one line, as in `{name: site_id}`."""
    options: dict[str, Any] = {"default_flow_style": True, "allow_unicode": True, "sort_keys": False}
    dumper = yaml.SafeDumper if max(str(value), default="") > "\uffff" else _FAST_DUMPER
    text = str(yaml.dump(value, Dumper=dumper, width=10**6, **options))
    return text.removesuffix("\n").removesuffix("\n...")


def _place(problem: ErrorDetails, lines: Lines) -> str:
    where = _where(problem)
    line_path = where
    while line_path not in lines and line_path:
        line_path = line_path[:-1]
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where).removeprefix(".")
    return f"line {lines.get(line_path, 1)}{f', {name}' if name else ''}:"


def _where(problem: ErrorDetails) -> Where:
    """The path in the document: pydantic adds the tried type to the path of a field of several types."""
    where = problem["loc"]
    if where[:2] == ("time", "column"):
        return where[:2]
    return where[:-1] if where[-2:-1] == ("segmented",) else where


def _sentence(problem: ErrorDetails) -> str:
    where = _where(problem)
    if problem["type"] == "extra_forbidden":
        model = _PARTS.get(str(where[0]), Definition) if len(where) > 1 else Definition
        return f"{UnknownName('field', str(where[-1]), model.model_fields)}"
    if where and where[-1] == "segmented" and problem["type"] != "value_error":
        return "should be the separator in quotes, or true for a list column"
    if where == ("time", "column") and problem["type"] not in ("missing", "value_error"):
        return "should be the name of a column, or a list of names"
    template = _SENTENCES.get(problem["type"])
    if template is None:
        return requirement(problem["type"], problem.get("ctx"))
    value = problem["input"]
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return template.format(**{"input": text} | problem.get("ctx", {}))
