"""The chosen slicer: its latest figures, its fields, the top values of each."""

from lib.ui.admin import firing
from lib.ui.explore import explorer, screen, view_figures
from lib.ui.kit import frame, problems
from lib.ui.query import history

context = frame.with_slicer(frame.signed_in())
history.current(context)
firing.block(context.clients)
screen.facts(context)
with problems.report_errors("The latest figures"):
    screen.headline(context)
view_figures.draw(context)
explorer.explorer(context)
screen.draw_changes(context)
