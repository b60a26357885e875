"""What a slicer is: models, definition, dates, zones, measures, formulas, and the warehouse of its rows."""
