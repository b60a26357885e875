"""One archive of all that an installation keeps: made while the desk runs, restored whole or not at all."""

from lib.backup.archive import Inventory
from lib.backup.make import Made, back_up
from lib.backup.move import MovedState, move
from lib.backup.restore import Restored, restore

__all__ = ["Inventory", "Made", "MovedState", "Restored", "back_up", "move", "restore"]
