"""The focus of the page: its current state, resolved; and the next drawing, once exact answers are there."""

from lib.figures.query import focus
from lib.figures.query.ask import ANSWERS, Answers
from lib.figures.query.focus import Focus
from lib.ui.kit import redraw, session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.query import history, own_cards


def current(context: PageContext) -> Focus:
    """The focus of the current state, with the leaderboards that the person chose where it names none."""
    page_state = history.current(context)
    cards = page_state.view.cards or own_cards.own_cards(context)
    return focus.resolve(context, page_state.with_view(cards=cards))


def refine(part: str) -> None:
    """Rerun the screen once exact answers have arrived for the estimates that this part of it shows."""
    futures = session_cache.of(ANSWERS, Answers).pending()
    if futures:
        redraw.when(lambda: all(future.done() for future in futures), f"refined_{part}")
