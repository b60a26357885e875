"""The question of a link, and what clicks make of it, without a session."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lib.reporting.models import AudienceQuery
from lib.ui.kit.frame import PageContext
from lib.ui.kit.rows import Act
from lib.ui.query import cards, drill, link, question
from lib.ui.query import view as views
from lib.ui.query.view import View


@dataclass(frozen=True)
class QuestionState:
    """A question and its view. `params` are the normalised URL parameters, without project and slicer.

    The view has the leaderboards that the person chose, where the parameters name none.
    """

    query: AudienceQuery
    view: View
    params: dict[str, str]


def after(context: PageContext, params: Mapping[str, str], acts: Iterable[Act]) -> QuestionState:
    """The question of these URL parameters after these clicks; without parameters, after the usual one.

    As a link it is forgiving: what can't be read, or what the slicer does not have, is left out.
    """
    slicer = context.slicer
    ours = {name: text for name, text in params.items() if question.is_ours(name)}
    query = link.from_params(ours, slicer, context.project, context.slicer_name).query
    if not question.asks(ours):
        query = query.model_copy(update={"split_by": question.first_split(slicer)})
    bare = views.from_params(ours, slicer)
    chosen = bare.cards or cards.from_text(question.read_choice(context), slicer)
    view = replace(bare, cards=chosen)
    for changed, changes in drill.states(query, view, acts, slicer):
        query, bare, view = changed, replace(bare, **changes), replace(view, **changes)
    return QuestionState(query, view, question.params_of(query) | views.to_params(bare))
