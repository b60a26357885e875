// One Tab stop per table; arrows move within it, and the focus stays where it was when rows change.

function onFocus(event) {
  const stop = event.target.closest("[data-stop]")
  if (!stop) return
  for (const other of stop.closest("table").querySelectorAll("[data-stop][tabindex='0']")) other.tabIndex = -1
  stop.tabIndex = 0
}

function onKey(panel, event) {
  const stop = event.target.closest("[data-stop]")
  if (!stop) return
  const find = event.key === "/" && stop.closest(".card")?.querySelector(".find")
  if (find) {
    event.preventDefault()
    return find.focus()
  }
  if ((event.key === "Enter" || event.key === " ") && !event.target.closest("thead")) {
    const cell = stop.closest("tbody .row > *")
    if (cell && !event.repeat) enter(panel, stop, cell, event.shiftKey)
    return event.preventDefault()
  }
  if (stop.matches(".fold") && foldByArrow(panel, stop, event)) return
  const next = neighbor(stop, event)
  if (!next) return
  event.preventDefault()
  next.focus()
}

function enter(panel, stop, cell, isShifted) {
  if (stop.matches(".line")) return line(panel, cell)
  if (stop.matches(".fold")) return fold(panel, cell.parentNode)
  if (stop.matches(".records")) return act(panel, "records", cell.closest("table").dataset.table, cell.parentNode.row.values)
  if (stop.matches(".only")) return act(panel, "include", cell.parentNode.row.values)
  choose(panel, cell, stop.matches(".exclude") || isShifted)
}

function neighbor(stop, event) {
  const rows = [...stop.closest("table").querySelectorAll("tr:not([hidden])")]
  const { row, column, which } = whereIs(stop)
  const stops = [...rows[row].querySelectorAll("[data-stop]")]
  const along = stops.indexOf(stop)
  const moves = { ArrowUp: -1, ArrowDown: 1, PageUp: -PAGE, PageDown: PAGE }
  if (event.key in moves) return stopAt(rows, row + moves[event.key], column, which)
  if (event.key === "ArrowLeft") return stops[along - 1]
  if (event.key === "ArrowRight") return stops[along + 1]
  if (event.key === "Home") return event.ctrlKey ? stopAt(rows, 0, column, which) : stops[0]
  if (event.key === "End") return event.ctrlKey ? stopAt(rows, rows.length, column, which) : stops.at(-1)
}

function whereIs(stop) {
  const table = stop.closest("table")
  const cell = stop.closest("th, td")
  const row = [...table.querySelectorAll("tr:not([hidden])")].indexOf(stop.closest("tr"))
  return { table: table.dataset.table, row, column: cell.dataset.column, which: stop.dataset.stop }
}

/** The same column's stop in a row, which is the nearest that there is; or the row's first. */
function stopAt(rows, row, column, which) {
  const found = rows[Math.max(0, Math.min(row, rows.length - 1))]
  const cell = [...found.children].find((child) => child.dataset.column === column)
  const stops = cell ? [cell, ...cell.children].filter((node) => node.matches("[data-stop]")) : []
  return stops.find((node) => node.dataset.stop === which) ?? stops[0] ?? found.querySelector("[data-stop]")
}

/** A node that was moved has lost the focus; where it is gone, the focus goes to what took its place. */
function refocus(panel, focused, place) {
  if (focused.isConnected) return focused.focus({ preventScroll: true })
  const shown = panel.tables.get(place.table)
  if (!shown?.table.isConnected) return
  const rows = [...shown.table.querySelectorAll("tr:not([hidden])")]
  stopAt(rows, place.row, place.column, place.which)?.focus({ preventScroll: true })
}
