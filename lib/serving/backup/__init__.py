"""One archive of all that an installation keeps: made while the desk runs, restored whole or not at all."""

from lib.serving.backup.archive import Inventory
from lib.serving.backup.make import Backup, back_up
from lib.serving.backup.move import move
from lib.serving.backup.restore import RestoreResult, restore

__all__ = ["Backup", "Inventory", "RestoreResult", "back_up", "move", "restore"]
