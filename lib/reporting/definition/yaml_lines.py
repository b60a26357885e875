"""YAML with line numbers, and without the surprises: `no` is text, `+10:00` is not a number of seconds."""

import re
from typing import Any, ClassVar, NoReturn

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from lib.wire.errors import BadDefinition
from lib.wire.shallow_yaml import ShallowLoader

Where = tuple[str | int, ...]
Lines = dict[Where, int]


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
        hint = (
            "; put values that begin with % or @ in quotes" if "cannot start any token" in str(error) else ""
        )
        raise BadDefinition([f"{file}{line}: {error.problem or error.context}{hint}"]) from None
    except yaml.YAMLError as error:
        raise BadDefinition([f"{file}: {error}"]) from None


class _Loader(ShallowLoader):
    """Only the scalars of YAML 1.2's core."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(
                problem="write the value again instead of an *alias", problem_mark=mark
            )
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
        if isinstance(node, MappingNode):
            return self._mapping(node, where)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*where, position)) for position, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, where: Where) -> dict[str, Any]:
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
