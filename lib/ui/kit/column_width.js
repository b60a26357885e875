// Columns widened by hand: by a drag of their edge, by Shift and the arrow keys on their header, and by a double
// click as wide as their values. This browser keeps the widths, of each table and column.

const WIDTHS_STORED = "trancheWidths"
const [NARROWEST, WIDER] = [48, 16] // pixels

function storedWidths() {
  return JSON.parse(localStorage.getItem(WIDTHS_STORED) ?? "{}")
}

/** The width in pixels that a person gave a column of a table; undefined: none. */
function ownWidth(table, column) {
  return storedWidths()[`${table} ${column}`]
}

/** The edge of a header that widens its column. `table` names it; `redraw` draws the columns with their widths. */
function newEdge(head, table, column, redraw) {
  const edge = make("span", { class: "edge", role: "separator", "aria-orientation": "vertical", "aria-label": "Width", "aria-valuemin": NARROWEST, "aria-valuenow": NARROWEST, tabindex: "-1", title: "Drag, or press Shift and an arrow key, to change the width; double-click, or press Enter, to fit the values" })
  const widen = (width) => {
    const pixels = Math.max(NARROWEST, Math.round(width))
    localStorage.setItem(WIDTHS_STORED, JSON.stringify({ ...storedWidths(), [`${table} ${column}`]: pixels }))
    edge.setAttribute("aria-valuenow", pixels)
    redraw()
  }
  edge.addEventListener("pointerdown", (event) => event.button === 0 && drag(head, edge, event, widen))
  edge.addEventListener("dblclick", () => widen(fittingWidth(head)))
  edge.addEventListener("click", (event) => event.stopPropagation())
  edge.addEventListener("focus", () => edge.setAttribute("aria-valuenow", Math.round(head.offsetWidth)))
  head.addEventListener("keydown", (event) => {
    const step = event.shiftKey && { ArrowLeft: -WIDER, ArrowRight: WIDER }[event.key]
    const isFitting = event.key === "Enter" && event.target === edge
    if (!step && !isFitting) return
    event.preventDefault()
    event.stopPropagation()
    widen(isFitting ? fittingWidth(head) : head.offsetWidth + step)
  })
  return edge
}

function drag(head, edge, { clientX, pointerId }, widen) {
  const width = head.offsetWidth
  const ends = new AbortController()
  const on = (kind, work) => edge.addEventListener(kind, work, { signal: ends.signal })
  edge.setPointerCapture(pointerId)
  on("pointermove", (event) => event.clientX !== clientX && widen(width + event.clientX - clientX))
  for (const kind of ["pointerup", "pointercancel"]) on(kind, () => ends.abort())
}

/** As wide as the longest of its values and its title would like to be, in pixels. */
function fittingWidth(head) {
  const table = head.closest("table")
  const column = table.querySelector("colgroup").children[[...head.parentNode.children].indexOf(head)]
  const [before, width] = [table.style.cssText, column.style.width]
  Object.assign(table.style, { tableLayout: "auto", width: "max-content", minWidth: "0" })
  column.style.width = ""
  const fitting = Math.ceil(head.getBoundingClientRect().width)
  table.style.cssText = before
  column.style.width = width
  return fitting
}
