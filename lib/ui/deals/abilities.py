"""What this person may ask of the deals service: what it does; who only looks changes nothing."""

from dataclasses import replace

from lib.deals.abilities import Abilities
from lib.ui.deals import catalogue
from lib.ui.frame import Here

READER = "viewer"
LOOKING = "Your role may look at deals and not change them"


def of(here: Here) -> Abilities:
    """As screens ask for it. Raises ServiceProblem where it is not known yet what the service does."""
    does = catalogue.client(here).abilities
    return replace(does, refuses=does.refuses or LOOKING) if here.person.role == READER else does
