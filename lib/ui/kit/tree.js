// Rows below rows: which level a row has, the button that opens and closes it, and what shows at once.

/** The place of a key cell's value among those of its row: in a tree its one key cell is that of the last. */
function keyPlace(row, cell) {
  return cell.closest("table").matches("[role=treegrid]") ? row.values.length - 1 : Number(cell.dataset.place)
}

function drawLevel(node, row) {
  set(node, "aria-level", String(row.level))
  node.style.setProperty("--level", row.level - 1)
  set(node, "aria-expanded", row.is_open === null ? null : String(row.is_open))
}

function drawFold(cell, row, { text: name }) {
  let button = cell.querySelector(".fold")
  if (row.is_open === null) return button?.remove()
  if (!button) {
    button = make("button", { type: "button", class: "fold", tabindex: "-1", "data-stop": "3" }, drawn(FOLD_ICON))
    cell.prepend(button)
  }
  set(button, "aria-label", `${row.is_open ? "Collapse" : "Expand"} ${name}`)
  set(button, "title", `${row.is_open ? "Collapse" : "Expand"} ${name}`)
}

function fold(panel, node) {
  const isOpen = node.getAttribute("aria-expanded") === "true"
  act(panel, isOpen ? "collapse" : "expand", node.row.values)
}

/** Right opens a closed row, left closes an open one; else the arrow goes on to the next stop. */
function foldByArrow(panel, stop, event) {
  const node = stop.closest("tr")
  const wanted = { ArrowRight: "false", ArrowLeft: "true" }[event.key]
  if (wanted === undefined || node.getAttribute("aria-expanded") !== wanted) return false
  event.preventDefault()
  fold(panel, node)
  return true
}

/** Waiting folds show at once: the rows below a row that is being closed are gone, those of others are to come. */
function showFolds(panel, shown) {
  const closed = []
  for (const node of shown.body.children) {
    const { row } = node
    const path = JSON.stringify(row.values)
    const last = panel.waiting.filter((a) => FOLDS.includes(a[1]) && JSON.stringify(a[2]) === path).at(-1)?.[1]
    const isOpen = last ? last === "expand" : row.is_open
    const isBelow = (above) => path !== above && path.startsWith(above.slice(0, -1))
    node.hidden = closed.some((above) => isBelow(above) || (row.kind === "rest" && path === above))
    if (row.is_open === null) continue
    set(node, "aria-expanded", String(isOpen))
    if (!isOpen) closed.push(path)
  }
}
