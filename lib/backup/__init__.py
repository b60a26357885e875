"""One archive of all that an installation keeps: made while the desk runs, restored whole or not at all."""

from lib.backup.archive import Inventory
from lib.backup.make import Backup, back_up
from lib.backup.move import MovedState, move
from lib.backup.restore import RestoreResult, restore

__all__ = ["Backup", "Inventory", "MovedState", "RestoreResult", "back_up", "move", "restore"]
