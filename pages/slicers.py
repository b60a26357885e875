"""The chosen slicer: its latest figures, its fields, the top values of each."""

from lib.ui.admin import firing
from lib.ui.explore import explorer, screen, view_figures
from lib.ui.kit import frame, problems

context = frame.with_slicer(frame.signed_in())
firing.block(context.clients)
screen.facts(context)
with problems.report_errors("The latest figures"):
    screen.headline(context)
view_figures.draw(context)
explorer.explorer(context)
screen.draw_changes(context)
