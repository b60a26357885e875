"""YAML of others, to a bounded depth: PyYAML composes recursively, and libyaml's C stack ends the process."""

from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.nodes import Node
from yaml.resolver import Resolver

MAX_DEPTH = 20


class Shallow(Composer):
    """Mixed into a loader: a node below MAX_DEPTH others is refused with its line, before it is composed."""

    _depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        """The next node. MarkedYAMLError where it is nested too deeply."""
        if self._depth > MAX_DEPTH:
            mark = self.peek_event().start_mark  # type: ignore[attr-defined]
            raise yaml.MarkedYAMLError(problem="nested too deeply", problem_mark=mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class ShallowLoader(Shallow, yaml.SafeLoader):
    """PyYAML's safe loader, to a bounded depth."""


if hasattr(yaml, "CSafeLoader"):
    from yaml.cyaml import CParser  # type: ignore[attr-defined]

    class FastLoader(Shallow, Composer, CParser, SafeConstructor, Resolver):
        """The same, with libyaml's parser."""

        def __init__(self, stream: Any) -> None:
            CParser.__init__(self, stream)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)

else:
    FastLoader = ShallowLoader  # type: ignore[assignment,misc]
