"""Which texts the screens hand to Markdown that are not known to be ours, found by reading the code.

Ours is what is written in the code, numbers and times, and what went through `plain`. Names are followed to
what they are bound to, calls of our own functions to what these return, and parameters to what is passed.
"""

import ast
from collections.abc import Iterator

from code_read import Code, Function, Module, Place, annotations, bindings

BODY = frozenset((
    "caption", "error", "header", "info", "markdown", "subheader", "success", "title", "toast",
    "warning", "spinner", "badge", "write",
))  # fmt: skip
LABEL = frozenset((
    "button", "checkbox", "date_input", "dialog", "download_button", "expander", "form_submit_button",
    "link_button", "menu_button", "metric", "multiselect", "number_input", "page_link", "pills",
    "popover", "progress", "radio", "segmented_control", "select_slider", "selectbox", "slider",
    "status", "tabs", "text_area", "text_input", "toggle",
))  # fmt: skip
CALLS = BODY | LABEL
KEYWORDS = frozenset(("help", "title", "label", "body", "captions"))
MARKED_OPTIONS = frozenset(("radio", "pills", "segmented_control", "menu_button"))
NOT_STREAMLIT = frozenset((
    "frame", "log", "_log", "numbers", "numbered", "facts", "fields", "str", "click", "column",
    "reporting",
))  # fmt: skip
OURS = frozenset((
    "plain", "len", "int", "float", "round", "sum", "min", "max", "abs", "range", "count", "index",
    "strftime", "ord", "number", "divmod", "get_args", "isoformat", "natural_size",
))  # fmt: skip
OF_PARTS = frozenset((
    "filter", "sorted", "list", "tuple", "set", "dict", "zip", "enumerate", "reversed", "str", "next",
    "iter",
))  # fmt: skip
METHODS = frozenset((
    "partition", "ljust", "join", "translate", "format", "strip", "rstrip", "lstrip", "capitalize", "lower",
    "upper", "items", "values", "keys", "get", "replace",
))  # fmt: skip
NUMBERS = frozenset(("day", "month", "year", "id", "seconds", "rest"))
TYPES = frozenset(("int", "float", "bool", "date", "datetime", "timedelta", "None"))


class Reader:
    """Reads expressions; what is being read already counts as ours, so that circles end."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._known: dict[int, bool] = {}
        self.cause: Place | None = None
        self._literals = {
            name
            for module in code.modules.values()
            for name, value in bindings(module.tree)
            if isinstance(value, ast.Subscript) and ast.unparse(value.value) == "Literal"
        }

    def is_ours(self, place: Place) -> bool:
        """Whether the text of this expression is ours."""
        key = id(place.node)
        if key not in self._known:
            self._known[key] = True
            self._known[key] = self._read(place)
            if not self._known[key] and self.cause is None:
                self.cause = place
        return self._known[key]

    def _all(self, place: Place, nodes: list[ast.expr]) -> bool:
        return all(self.is_ours(place.at(node)) for node in nodes if node is not None)

    def _read(self, place: Place) -> bool:  # noqa: C901
        match place.node:
            case ast.Constant() | ast.Compare():
                return True
            case (
                ast.JoinedStr(values=parts)
                | ast.List(elts=parts)
                | ast.Tuple(elts=parts)
                | ast.Set(elts=parts)
            ):
                return self._all(place, parts)
            case ast.FormattedValue(value=value, format_spec=spec):
                return (spec is not None and set(ast.unparse(spec)) & set(",%dfeg")) or self.is_ours(
                    place.at(value)
                )
            case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
                return self._all(place, [one, other])
            case ast.BoolOp(values=parts):
                return self._all(place, parts)
            case ast.Dict(keys=keys, values=values):
                return self._all(place, [*(key for key in keys if key), *values])
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.SetComp(elt=part):
                return self.is_ours(place.at(part))
            case ast.DictComp(key=key, value=value):
                return self._all(place, [key, value])
            case ast.Starred(value=part) | ast.Subscript(value=part) | ast.UnaryOp(operand=part):
                return self.is_ours(place.at(part))
            case ast.NamedExpr(value=part) | ast.Await(value=part) | ast.Lambda(body=part):
                return self.is_ours(place.at(part))
            case ast.Call():
                return self._call(place, place.node)
            case ast.Name(id=name):
                return self._name(place, name)
            case ast.Attribute(attr=name):
                return name in NUMBERS or self._attribute(place, name)
        return False

    def _call(self, place: Place, call: ast.Call) -> bool:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        functions = self.code.function(place.at(call.func))
        if functions:
            return all(map(self._returns, functions)) or name in OURS
        if name in OURS:
            return True
        if name == "map":
            return _is_plain(call.args[0]) or self._all(place, call.args)
        if name == "get" and isinstance(call.func, ast.Attribute):
            return self._all(place, [call.func.value, *call.args[1:]])
        if name in OF_PARTS:
            return self._all(place, call.args)
        if name in METHODS and isinstance(call.func, ast.Attribute):
            return self._all(place, [call.func.value, *call.args])
        return False

    def _returns(self, function: Place) -> bool:
        node = function.node
        assert isinstance(node, Function)
        if node.name == "plain" or self._is_safe_type(node.returns):
            return True
        found = [
            one
            for one in ast.walk(node)
            if isinstance(one, ast.Return | ast.Yield | ast.YieldFrom) and one.value
        ]
        mine = [one for one in found if next(function.module.scopes(one)) is node]
        return bool(mine) and self._all(function, [one.value for one in mine])

    def _name(self, place: Place, name: str) -> bool:
        for scope in place.module.scopes(place.node):
            if self._is_safe_type(annotations(scope).get(name)):
                return True
            found = [value for target, value in bindings(scope) if target == name]
            if found:
                return self._all(place, found)
            if isinstance(scope, Function | ast.Lambda) and (argument := _argument(scope, name)):
                return self._parameter(place.at(scope), argument)
        if name == "plain" or self.code.is_class(place.module, name):
            return True
        constants = self.code.constant(place.module, name)
        return bool(constants) and all(map(self.is_ours, constants))

    def _parameter(self, place: Place, argument: ast.arg) -> bool:
        if self._is_safe_type(argument.annotation):
            return True
        function = place.node
        calls = self.code.calls[id(function)]
        passed = [
            Place(call.module, value) for call in calls for value in _passed(call.node, function, argument)
        ]
        defaults = [value for name, value in _defaults(function) if name == argument.arg]
        return bool(passed) and all(map(self.is_ours, passed)) and self._all(place, defaults)

    def _attribute(self, place: Place, name: str) -> bool:
        node = place.node
        assert isinstance(node, ast.Attribute)
        if (
            isinstance(node.value, ast.Name)
            and (at := place.module.imported.get(node.value.id)) in self.code.modules
        ):
            constants = self.code.constant(self.code.modules[at], name)
            return bool(constants) and all(map(self.is_ours, constants))
        members = self.code.members[name]
        return bool(members) and all(map(self._member, members))

    def _member(self, member: Place) -> bool:
        if isinstance(member.node, Function):
            return self._returns(member)
        assert isinstance(member.node, ast.AnnAssign)
        return self._is_safe_type(member.node.annotation)

    def _is_safe_type(self, annotation: ast.expr | None) -> bool:
        if annotation is None:
            return False
        names = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
        if "Literal" in ast.unparse(annotation):
            return True
        words = names | {str(node.value) for node in ast.walk(annotation) if isinstance(node, ast.Constant)}
        return bool(words) and words <= TYPES | self._literals


def _is_plain(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id == "plain"


def _argument(scope: Function | ast.Lambda, name: str) -> ast.arg | None:
    arguments = scope.args
    everything = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    return next((one for one in everything if one is not None and one.arg == name), None)


def _defaults(function: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    arguments = function.args
    placed = [*arguments.posonlyargs, *arguments.args]
    yield from zip(
        (one.arg for one in placed[len(placed) - len(arguments.defaults) :]), arguments.defaults, strict=True
    )
    yield from (
        (one.arg, value)
        for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if value
    )


def _passed(call: ast.Call, function: ast.AST, argument: ast.arg) -> Iterator[ast.expr]:
    """What the call passes for the argument."""
    arguments = function.args
    if argument is arguments.vararg:
        yield from call.args[len(arguments.args) :]
        return
    yield from (word.value for word in call.keywords if word.arg == argument.arg)
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    if argument.arg in names and (place := names.index(argument.arg)) < len(call.args):
        yield call.args[place]


def texts(module: Module) -> Iterator[Place]:
    """The expressions of a module that Streamlit reads as Markdown."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        words = {word.arg: word.value for word in node.keywords}
        if "help" in words:
            yield Place(module, words["help"])
        if name not in CALLS or _receiver(node.func) in NOT_STREAMLIT:
            continue
        places = {"metric": 3, "page_link": 0}.get(name, 1)
        yield from (Place(module, value) for value in node.args[:places])
        yield from (Place(module, words[word]) for word in KEYWORDS - {"help"} if word in words)
        if name in MARKED_OPTIONS:
            yield from (Place(module, value) for value in _options(node, words))


def _options(call: ast.Call, words: dict[str | None, ast.expr]) -> Iterator[ast.expr]:
    """What a choice shows of each option: what a function of ours gives, or else the options themselves."""
    written = words.get("format_func")
    if isinstance(written, ast.Attribute) and written.attr == "__getitem__":
        yield written.value
    elif written is not None and ast.unparse(written) != "str.capitalize":
        yield written
    elif "options" in words:
        yield words["options"]
    else:
        yield from call.args[1:2]


def _receiver(function: ast.expr) -> str:
    """The last name before the method: `here.reporting.info` → `reporting`."""
    value = function.value if isinstance(function, ast.Attribute) else None
    return getattr(value, "id", getattr(value, "attr", ""))


def foreign(code: Code) -> list[str]:
    """The texts that reach Markdown and are not known to be ours, and the part that makes each so."""
    reader = Reader(code)
    screens = [
        module for name, module in code.modules.items() if name.startswith(("lib.ui", "lib.desk", "pages"))
    ]
    found = []
    for text in (text for module in screens for text in texts(module)):
        reader.cause = None
        if not reader.is_ours(text):
            found.append(f"{text}\n    because of {reader.cause}")
    return found
