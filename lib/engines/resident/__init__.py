"""The resident engine: memory-mapped codes and measures, a sparse product, an honest sample."""

from lib.engines.resident.engine import ResidentEngine, prepare, repair

__all__ = ["ResidentEngine", "prepare", "repair"]
