"""This person's permissions in the deals service; people who may only read change nothing."""

from dataclasses import replace

from lib.deals.abilities import Abilities
from lib.ui.deals import catalogue
from lib.ui.kit.frame import PageContext

LOOKING = "You can see deals, but not change them"


def of(context: PageContext) -> Abilities:
    """As screens ask for it. Raises ServiceProblem where it is not known yet what the service does."""
    does = catalogue.client(context).abilities
    return does if context.now().deals.writes else replace(does, refuses=does.refuses or LOOKING)
