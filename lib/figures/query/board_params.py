"""The parameters of a board's link: its days, comparison and filters, in place of those of its views."""

import re
from collections.abc import Iterable, Mapping, Sequence

from lib.reporting import links
from lib.reporting.links import join_texts, split_texts
from lib.slicers.models import Slicer
from lib.views.boards import Board
from lib.wire.filters import Filter

Params = Mapping[str, str]
DAYS, COMPARISON = ("start", "end"), ("compare", "also")
SAME = "same"  # the names that one field has in several slicers, of each filter that they apply to
OWN_PARAM = "own"  # marks a link that asks for the views' own days, comparison and filters


def params_of_link(board: Board, params: Params) -> dict[str, str]:
    """The board's parameters that a link to it asks for; without any those that are stored with it."""
    own = {name: text for name, text in params.items() if is_shared_param(name)}
    return own if own or OWN_PARAM in params else dict(board.params)


def link_params(board: Board, params: Params) -> dict[str, str]:
    """The parameters of a link to a board under these parameters; without those that are stored with it."""
    number = {"board": str(board.id)}
    if dict(params) == dict(board.params):
        return number
    return number | (dict(params) or {OWN_PARAM: "1"})


def is_shared_param(name: str) -> bool:
    """Whether a URL parameter of this name is one of a board: days, comparison, or a filter."""
    return name in (*DAYS, "compare", SAME) or links.FILTER.fullmatch(name) is not None


def under(params: Params, board_params: Params) -> dict[str, str]:
    """A view's parameters with the days, the comparison and the filters of a board in place of its own.

    A filter stands in place of all that the view has on the same field, and goes by each name that this has
    in a slicer of the board (`with_filters`); those on others stay.
    """
    stale_names = {*DAYS, "zoom"} if board_params.keys() & {*DAYS} else set()
    stale_names |= {*COMPARISON} if "compare" in board_params else set()
    fields = {name for names in filter_fields(board_params) for name in names}
    own = {
        name: text
        for name, text in params.items()
        if name not in stale_names and not ((match := links.FILTER.fullmatch(name)) and _is_of(match, fields))
    }
    groups = _same_names(board_params)
    for name, text in board_params.items():
        match = links.FILTER.fullmatch(name)
        names = groups.get(match[6], (match[6],)) if match else ()
        own |= {name[: match.start(6)] + field: text for field in names} if match else {}
        own |= {} if match or name == SAME else {name: text}
    return own


def _is_of(match: re.Match[str], names: set[str]) -> bool:
    """Whether a filter's parameter is about one of these fields, and no alternative among several."""
    return match[1] is None and match[6] in names


def _same_names(params: Params) -> dict[str, tuple[str, ...]]:
    """The names of fields that mean the same in the board's slicers, by each of them."""
    groups = map(split_texts, split_texts(params[SAME]) if params.get(SAME) else ())
    return {name: names for names in groups for name in names}


def filters_of(params: Params) -> tuple[Filter, ...]:
    """The filters among these parameters, but for groups of which any holds."""
    matches = ((links.FILTER.fullmatch(name), text) for name, text in params.items())
    return tuple(links.read_filter(match, text) for match, text in matches if match and match[1] is None)


def with_filters(params: Params, filters: Iterable[Filter], slicers: Sequence[Slicer]) -> dict[str, str]:
    """The parameters with these filters in place of theirs, and with what else their fields are called in
    these slicers."""
    before, all_filters = links.filter_params(filters_of(params)), tuple(filters)
    names = dict.fromkeys(names_in(filter_.name, slicers) for filter_ in all_filters)
    same = join_texts(join_texts(group) for group in names if len(group) > 1)
    others = {name: text for name, text in params.items() if name not in before and name != SAME}
    return others | links.filter_params(all_filters) | ({SAME: same} if same else {})


def names_in(name: str, slicers: Sequence[Slicer]) -> tuple[str, ...]:
    """The names in these slicers of the field of that name in the first that has it."""
    keys = [{field.name for field in slicer.key_fields} for slicer in slicers]
    origin = next((s for s, names in zip(slicers, keys, strict=True) if name in names), Slicer())
    own_names = (links.FieldNames(slicer, origin).of(name) for slicer in slicers)
    return tuple(dict.fromkeys(own for own, names in zip(own_names, keys, strict=True) if own in names))


def filter_fields(params: Params) -> list[tuple[str, ...]]:
    """The key fields that filters among these parameters are about, each by all of its names."""
    groups = _same_names(params)
    fields = (match[6] for name in params if (match := links.FILTER.fullmatch(name)))
    return list(dict.fromkeys(groups.get(field, (field,)) for field in fields))
