"""The parameters of a board's link: its days, comparison and filters, in place of those of its views."""

from collections.abc import Iterable, Mapping, Sequence

from lib.reporting import links
from lib.slicers.models import Slicer
from lib.views.boards import Board
from lib.wire.filters import Filter

Params = Mapping[str, str]
DAYS, COMPARISON = ("start", "end"), ("compare", "also")
OLD_PARAM = "same"  # in links of before; what fields mean is found when a board is read (board_filters.py)
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
    return name in (*DAYS, "compare", OLD_PARAM) or links.FILTER.fullmatch(name) is not None


def under(params: Params, board_params: Params) -> dict[str, str]:
    """A view's parameters with the days, the comparison and the filters of a board in place of its own.

    Filters are by the names of the view's slicer (`board_filters.for_slicer`). Each stands in place of all
    that the view has on the same field; those on others stay.
    """
    stale_names = {*DAYS, "zoom"} if board_params.keys() & {*DAYS} else set()
    stale_names |= {*COMPARISON} if "compare" in board_params else set()
    fields = {filter_.name for filter_ in filters_of(board_params)}
    own = {
        name: text
        for name, text in params.items()
        if name not in stale_names
        and not ((match := links.FILTER.fullmatch(name)) and match[1] is None and match[6] in fields)
    }
    return own | {name: text for name, text in board_params.items() if name != OLD_PARAM}


def filters_of(params: Params) -> tuple[Filter, ...]:
    """The filters among these parameters, but for groups of which any holds."""
    matches = ((links.FILTER.fullmatch(name), text) for name, text in params.items())
    return tuple(links.read_filter(match, text) for match, text in matches if match and match[1] is None)


def with_filters(params: Params, filters: Iterable[Filter]) -> dict[str, str]:
    """The parameters with these filters in place of theirs."""
    before = links.filter_params(filters_of(params))
    others = {name: text for name, text in params.items() if name not in before and name != OLD_PARAM}
    return others | links.filter_params(filters)


def names_in(name: str, slicers: Sequence[Slicer]) -> tuple[str, ...]:
    """The names in these slicers of the field of that name in the first that has it."""
    origin = next((slicer for slicer in slicers if name in slicer.key_names), Slicer())
    own_names = ((slicer, links.FieldNames(slicer, origin).of(name)) for slicer in slicers)
    return tuple(dict.fromkeys(own for slicer, own in own_names if own in slicer.key_names))
