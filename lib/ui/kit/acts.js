// What is clicked: it shows at once on top of what the server said, and is sent until the server has taken it.

const CHOICES = ["include", "add", "exclude", "release"]
const LINES = ["draw", "undraw"]
const FOLDS = ["expand", "collapse"]
const ASIDE = [...LINES, ...FOLDS, "records"] // no figure changes by these

function showWaiting(panel) {
  for (const shown of panel.tables.values()) {
    if (!shown.table.isConnected) continue
    showOrder(panel, shown)
    for (const row of shown.body.children) showState(panel, row)
    if (shown.data.is_tree) showFolds(panel, shown)
    set(shown.table, "aria-busy", String(panel.waiting.some((a) => !ASIDE.includes(a[1]))))
  }
}

function showOrder(panel, shown) {
  const orders = panel.waiting.filter((a) => a[1] === "order" && a[2] === shown.data.id)
  const [, , , column, direction] = orders.at(-1) ?? []
  shown.data.columns.forEach((known, place) => {
    const sorted = column === undefined ? known.sorted : known.id === column ? direction : null
    set(shown.head.children[place], "aria-sort", known.order ? (WORDS[sorted] ?? "none") : null)
  })
}

function showState(panel, node) {
  const row = node.row
  if (row.kind !== "row") return
  const about = (kinds, value) => panel.waiting.filter((a) => kinds.includes(a[1]) && a[2].some((pair) => isSame(pair, value)))
  const states = row.values.map((value, place) => {
    const kind = about(CHOICES, value).at(-1)?.[1]
    if (kind) return kind === "add" ? "include" : kind
    return row.included[place] ? "include" : row.excluded[place] ? "exclude" : "release"
  })
  set(node, "aria-selected", String(states.length > 0 && states.every((state) => state === "include")))
  node.classList.toggle("excluded", states.includes("exclude"))
  node.classList.toggle("waiting", row.values.some((value) => about(CHOICES, value).length > 0))
  node.states = states
  const buttons = node.querySelectorAll(".include")
  buttons.forEach((button) => set(button, "aria-pressed", String(states[keyPlace(row, button.parentNode)] === "include")))
  for (const button of node.querySelectorAll(".exclude")) {
    set(button, "aria-pressed", String(states.includes("exclude")))
  }
  const line = node.querySelector(".line")
  if (line) showLine(line, row, about(LINES, row.values[0]).at(-1)?.[1])
}

function showLine(button, row, waiting) {
  const isDrawn = waiting ? waiting === "draw" : Boolean(row.color)
  set(button, "aria-pressed", String(isDrawn))
  button.closest("tr").classList.toggle("lined", isDrawn)
  row.color ? button.style.setProperty("--line", row.color) : button.style.removeProperty("--line")
}

function isSame(one, other) {
  return one[0] === other[0] && one[1] === other[1]
}

function onClick(panel, event) {
  const head = event.target.closest("thead button")
  if (head) return order(panel, head.closest("th"))
  const cell = event.target.closest("tbody .row > *")
  if (!cell || event.detail > 1) return // the second click of a double one
  if (!window.getSelection().isCollapsed) return // somebody selects text
  if (event.target.closest(".line")) return line(panel, cell)
  if (event.target.closest(".fold")) return fold(panel, cell.parentNode)
  if (event.target.closest(".records")) return act(panel, "records", cell.closest("table").dataset.table, cell.parentNode.row.values)
  if (event.target.closest(".only")) return act(panel, "include", cell.parentNode.row.values)
  choose(panel, cell, event.target.closest(".exclude") || event.shiftKey || event.altKey)
}

function order(panel, head) {
  const shown = panel.tables.get(head.closest("table").dataset.table)
  const column = shown.data.columns.find((known) => known.id === head.dataset.column)
  const now = { ascending: "asc", descending: "desc" }[head.getAttribute("aria-sort")]
  const direction = now ? (now === "asc" ? "desc" : "asc") : column.order
  act(panel, "order", shown.data.id, column.id, direction)
}

/** A cell of a key field means its value; a figure means the whole row, which can be kept but not left out. */
function choose(panel, cell, isExcluded) {
  const { row, states } = cell.parentNode
  const places = cell.classList.contains("key") ? [keyPlace(row, cell)] : row.values.map((_, place) => place)
  const values = places.map((place) => row.values[place])
  if (isExcluded && values.length > 1) return
  const wanted = isExcluded ? "exclude" : "include"
  const isThere = places.every((place) => states[place] === wanted)
  const { card } = panel.tables.get(cell.closest("table").dataset.table).data
  act(panel, isThere ? "release" : card && !isExcluded ? "add" : wanted, values)
}

function line(panel, cell) {
  const isDrawn = cell.querySelector(".line").getAttribute("aria-pressed") === "true"
  act(panel, isDrawn ? "undraw" : "draw", cell.parentNode.row.values)
}
