"""The filters of a board for each of its slicers, by the names that it has for fields and values."""

from collections.abc import Mapping, Sequence

from lib.figures.context import RequestContext
from lib.figures.query import filters, values
from lib.reporting import links
from lib.reporting.links import FieldNames, join_texts
from lib.slicers import counterparts
from lib.wire.filters import Filter

Params = Mapping[str, str]


def for_slicer(
    params: Params, context: RequestContext, board_contexts: Sequence[RequestContext], view_params: Params
) -> tuple[dict[str, str], list[str]]:
    """The parameters of a board with its filters as the context's slicer has them, and a sentence for each
    that does not apply there.

    A filter is about the field of the first of the board's slicers that has one of its name. Values go by
    what they mean on the days of the view. Raises the errors of the service.
    """
    own: dict[str, str] = {}
    sentences, incomplete = [], set()
    for param, text in params.items():
        if (match := links.FILTER.fullmatch(param)) is None:
            own[param] = text
            continue
        origin = next((other for other in board_contexts if match[6] in other.slicer.key_names), context)
        name = FieldNames(context.slicer, origin.slicer).of(match[6])
        title = counterparts.title(match[6], origin.slicer.key_fields)
        filter_, lack = links.read_filter(match, text), f"{context.slicer_name} has no {title}"
        codes = None
        if name in context.slicer.key_names:
            # Named by a slicer that the reader may not see: there are no labels to compare.
            codes = (
                filter_.value if origin is context else _codes(filter_, name, origin, context, view_params)
            )
            lack = f"{title} has other values in {context.slicer_name}"
        if codes is None:
            sentences.append(f"{lack}: the board's filter on it does not apply here.")
            incomplete.add(match[1])
        else:
            own[f"{param[: match.start(6)]}{name}"] = join_texts(codes)
    groups = incomplete - {None}  # without one of its filters a group would keep fewer rows than it says
    return {
        name: text
        for name, text in own.items()
        if not ((match := links.FILTER.fullmatch(name)) and match[1] in groups)
    }, sentences


def _codes(
    filter_: Filter, name: str, origin: RequestContext, context: RequestContext, view_params: Params
) -> Sequence[str] | None:
    """The values of a filter on a field of the origin by the codes of the field `name` of the context; None
    where one has no counterpart there, or several.

    By one mapping, or without any, they are the same, as are parts of texts; else a value is the one that has
    its label, or its code and no other label.
    """
    mappings = [origin.slicer.key_field(filter_.name).mapping, context.slicer.key_field(name).mapping]
    if mappings[0] == mappings[1] or not filters.is_whole(filter_):
        return filter_.value
    first, query = (
        links.from_params(view_params, each.slicer, each.project, each.slicer_name).query
        for each in (origin, context)
    )
    labels = values.descriptions(origin, first, filter_.name, filter_.value)
    texts = dict.fromkeys([*filter_.value, *(labels[code] for code in filter_.value)])
    codes_of, _ = values.look_up(context, query, name, texts)
    own_labels = values.descriptions(context, query, name, sum(codes_of.values(), ()))
    codes: list[str] = []
    for code in filter_.value:
        same = {*codes_of.get(code, ()), *codes_of.get(labels[code], ())}
        other_labels = {own_labels[own].casefold() for own in same if own_labels[own] != own}
        is_other = labels[code] != code and not other_labels <= {labels[code].casefold()}
        if len(same) != 1 or is_other:
            return None
        codes += same
    return codes
