// Draws one page of a list in place and sends what is clicked on it. listing.py says how acts travel.

const BORDERS = 2 // pixels, of the list's left and right one
const [TAIL, LONGEST_TAIL] = [14, 26] // letters at a name's end that are never cut
const lists = new WeakMap()

export default function ({ parentElement, data, setStateValue }) {
  let list = lists.get(parentElement)
  if (!list) {
    list = newList(parentElement.querySelector(".listing"))
    lists.set(parentElement, list)
  }
  list.send = (acts) => setStateValue("acts", { by: list.by, list: acts })
  try {
    update(list, data)
  } catch (error) {
    console.error("The list can't be drawn:", error)
  }
}

function newList(root) {
  const [columns, head, body] = [make("colgroup"), make("tr", { role: "row" }), make("tbody", { role: "rowgroup" })]
  const table = make("table", { role: "grid", "aria-multiselectable": "true" }, columns, make("thead", { role: "rowgroup" }, head), body)
  const box = make("div", { class: "box" }, table)
  root.replaceChildren(box)
  const list = { root, box, table, columns, head, body, by: Math.random().toString(36).slice(2), number: 0, waiting: [] }
  root.addEventListener("click", (event) => onClick(list, event))
  root.addEventListener("mousedown", (event) => event.shiftKey && event.target.closest(".tick") && event.preventDefault())
  root.addEventListener("change", (event) => onChange(list, event))
  root.addEventListener("keydown", (event) => onKey(list, event))
  return list
}

// ---- drawing ----------------------------------------------------------------------------------------------

function update(list, data) {
  forgetTaken(list, data.taken)
  const focused = focusedKey(list)
  const opened = list.data?.rows.find((row) => row.is_open)
  list.data = data
  set(list.table, "aria-label", data.label)
  set(list.table, "aria-rowcount", String(data.count))
  list.box.classList.toggle("ticks", data.ticks)
  list.root.classList.toggle("choices", data.most_in_sight !== null)
  list.root.classList.toggle("cards", data.columns.some((column) => column.on_phone))
  const isCut = data.rows.length > data.most_in_sight // half a row more shows that there are others below
  if (data.most_in_sight !== null) list.box.style.setProperty("--most", String(data.most_in_sight + (isCut ? 1.5 : 1)))
  drawHead(list)
  drawRows(list)
  if (data.most_in_sight !== null) revealOpen(list)
  showWaiting(list)
  if (focused && focusedKey(list) !== focused) focusRow(list, focused) // rows that are made anew or moved lose it
  if (opened) returnTo(list, opened.key)
}

function focusedKey(list) {
  return list.root.getRootNode().activeElement?.closest("tbody tr")?.dataset.key
}

function focusRow(list, key) {
  const row = [...list.body.children].find((row) => row.dataset.key === key)
  if (row) reach(list, row)
}

/**
 * Once a drawer is closed, the keyboard goes on at its row, unless somebody has gone elsewhere meanwhile. A late run
 * of the drawer may draw it once more for a moment, and takes the keyboard along: so this looks again for a second.
 */
function returnTo(list, key, tries = 50, looks = 10) {
  if (!tries || !looks || list.data.rows.some((row) => row.is_open)) return
  const root = list.root.getRootNode()
  const isClosing = document.activeElement?.closest("[role=dialog]")
  if (!isClosing) {
    const isHere = [document.body, root.host].includes(document.activeElement)
    if (!isHere || (root.activeElement && focusedKey(list) !== key)) return
    if (!root.activeElement) focusRow(list, key)
  }
  setTimeout(() => returnTo(list, key, tries - 1, isClosing ? looks : looks - 1), 100)
}

function drawHead(list) {
  const { columns, ticks } = list.data
  const shape = JSON.stringify([ticks, columns.map(({ id, title, width, order }) => [id, title, width, Boolean(order)])])
  if (list.shape !== shape) {
    list.shape = shape
    const heads = columns.map((column, place) => newHead(list, column, place))
    list.head.replaceChildren(...(ticks ? [tickAll()] : []), ...heads, ...orders(columns))
    list.body.replaceChildren()
    drawWidths(list)
  }
  for (const column of columns) {
    const head = list.head.querySelector(`[data-column="${column.id}"]`)
    set(head, "aria-sort", column.sorted === "asc" ? "ascending" : column.sorted === "desc" ? "descending" : "none")
  }
  const choice = list.head.querySelector("select")
  const sorted = columns.find((column) => column.sorted !== null)
  if (choice) choice.value = sorted ? `${sorted.id} ${sorted.sorted}` : ""
}

/** A column is as wide as somebody made it; the others share what is left in proportion to their usual widths. */
function drawWidths(list) {
  const { columns, ticks, label } = list.data
  const own = columns.map(({ id }) => ownWidth(label, id))
  const front = ticks ? [make("col", { style: "width: 2.2rem" })] : []
  const usual = columns.reduce((sum, { width }, place) => sum + (own[place] ? 0 : width), 0)
  const pixels = own.reduce((sum, width) => sum + (width ?? 0), BORDERS)
  const rest = `(100cqw - ${pixels}px - ${ticks ? 2.2 : 0}rem)`
  const widthOf = ({ width }, place) => own[place] ? `${own[place]}px` : pixels > BORDERS ? `max(${width}rem, ${rest} * ${width / usual})` : `${width}rem`
  list.columns.replaceChildren(...front, ...columns.map((column, place) => make("col", { style: `width: ${widthOf(column, place)}` })))
  list.table.style.minWidth = `calc(${pixels - BORDERS}px + ${usual + (ticks ? 2.2 : 0)}rem)`
}

/** In place of the headers on a phone, where they have no room: both directions of each column to choose from. */
function orders(columns) {
  const options = columns.filter(({ order }) => order).flatMap(({ id, title, order }) =>
    [order, order === "asc" ? "desc" : "asc"].map((direction) => {
      const option = make("option", { value: `${id} ${direction}` })
      option.textContent = `${title} ${direction === "asc" ? "↑" : "↓"}`
      return option
    }))
  if (!options.length) return []
  const none = make("option", { value: "", disabled: "" })
  none.textContent = "Order"
  return [make("th", { class: "order", role: "columnheader" }, make("select", { "aria-label": "Order" }, none, ...options))]
}

function tickAll() {
  return make("th", { class: "tick", role: "columnheader" }, make("input", { type: "checkbox", "aria-label": "All on this page", "data-all": "" }))
}

function newHead(list, column, place) {
  const inside = make(column.order ? "button" : "span", column.order ? { type: "button", title: `Order by ${column.title}` } : {})
  inside.textContent = column.title
  const head = make("th", { role: "columnheader", scope: "col", "data-column": column.id, "aria-label": column.title, class: styles(column, place) }, inside)
  if (list.data.most_in_sight !== null) return head
  const edge = newEdge(head, list.data.label, column.id, () => drawWidths(list))
  if (!column.order) edge.tabIndex = 0
  head.append(edge)
  return head
}

function styles(column, place) {
  return [place === 0 ? "main" : "", column.is_right ? "right" : "", column.on_phone ? `phone in-${column.on_phone}` : ""].filter(Boolean).join(" ")
}

function drawRows(list) {
  const known = new Map([...list.body.children].map((row) => [row.dataset.key, row]))
  const rows = list.data.rows.map((row) => drawRow(list, known.get(row.key), row))
  inOrder(list.body, rows)
  if (rows.length && !rows.some((row) => row.tabIndex === 0)) rows[0].tabIndex = 0
}

function drawRow(list, node, row) {
  const { columns, ticks } = list.data
  if (!node) {
    node = make("tr", { role: "row", tabindex: "-1", "data-key": row.key })
    if (ticks) node.append(make("td", { class: "tick", role: "gridcell" }, make("input", { type: "checkbox", tabindex: "-1" })))
    columns.forEach((column, place) => node.append(newCell(column, place)))
  }
  node.row = row
  set(node, "aria-current", row.is_open ? "true" : null)
  const cells = [...node.children].slice(ticks ? 1 : 0)
  row.cells.forEach((cell, place) => {
    const target = cells[place]
    target.classList.toggle("badge", Boolean(cell.tone))
    const inside = cell.tone ? (target.firstElementChild ?? target.appendChild(make("span"))) : target
    if (place && !columns[place].keeps_end) text(inside, cell.text)
    else if (inside.textContent !== cell.text) drawName(inside, cell.text)
    if (cell.tone) inside.className = cell.tone
    set(target, "title", cell.text)
  })
  if (ticks) set(node.querySelector("input"), "aria-label", `Choose ${row.cells[0].text}`)
  return node
}

function newCell(column, place) {
  const cell = make(place ? "td" : "th", { role: place ? "gridcell" : "rowheader", class: styles(column, place) })
  if (column.is_titled) cell.dataset.title = column.title
  return cell
}

/** A name in two parts, of which the first is cut where there is no room: names of deals end with their seat. */
function drawName(node, name) {
  const seat = name.lastIndexOf(" - ")
  const isShort = name.length <= TAIL + 4
  const place = isShort ? name.length : name.length - seat <= LONGEST_TAIL ? seat : name.length - TAIL
  const parts = [name.slice(0, place), name.slice(place)].filter(Boolean).map((part) => make("span", {}, part))
  node.replaceChildren(make("span", { class: "name" }, ...parts))
}

/** Scroll a list of choices so that the open row is in sight, and let the keyboard begin there. */
function revealOpen(list) {
  const open = list.body.querySelector('[aria-current="true"]')
  if (!open || list.revealed === open.dataset.key) return
  list.revealed = open.dataset.key
  for (const row of list.body.children) row.tabIndex = row === open ? 0 : -1
  const head = list.head.offsetHeight
  const [top, bottom] = [open.offsetTop - head, open.offsetTop + open.offsetHeight - list.box.clientHeight]
  if (list.box.scrollTop > top) list.box.scrollTop = top
  else if (list.box.scrollTop < bottom) list.box.scrollTop = bottom
}

/** What was clicked and not yet answered lies over what the service said. */
function showWaiting(list) {
  set(list.box, "aria-busy", String(list.waiting.some(([, kind]) => kind !== "tick")))
  const ticked = new Map(list.data.rows.map((row) => [row.key, row.is_ticked]))
  for (const [, kind, keys, is] of list.waiting) if (kind === "tick") for (const key of keys) ticked.set(key, is)
  for (const row of list.body.children) {
    const is = Boolean(ticked.get(row.dataset.key))
    const box = row.querySelector("input")
    if (box) box.checked = is
    set(row, "aria-selected", list.data.ticks ? String(is) : null)
  }
  const all = list.head.querySelector("[data-all]")
  if (all) {
    const count = [...list.body.children].filter((row) => row.getAttribute("aria-selected") === "true").length
    all.checked = count > 0 && count === list.body.children.length
    all.indeterminate = count > 0 && !all.checked
  }
}

// ---- acting -----------------------------------------------------------------------------------------------

function onClick(list, event) {
  const row = event.target.closest("tbody tr")
  const head = event.target.closest("thead th")
  if (head?.querySelector("button") && event.target.closest("button")) return order(list, head.dataset.column)
  if (event.target.matches("[data-all]")) return act(list, "tick", list.data.rows.map(({ key }) => key), event.target.checked)
  if (!row) return
  reach(list, row)
  if (event.target.closest(".tick")) return tick(list, row, event.shiftKey)
  if (!String(list.root.getRootNode().getSelection?.() ?? getSelection())) act(list, "open", row.dataset.key)
}

function onChange(list, event) {
  if (event.target.matches("select")) order(list, ...event.target.value.split(" "))
}

function order(list, id, direction) {
  const column = list.data.columns.find((one) => one.id === id)
  const next = direction ?? (column.sorted === null ? column.order : column.sorted === "asc" ? "desc" : "asc")
  for (const one of list.data.columns) one.sorted = one === column ? next : null
  drawHead(list)
  act(list, "order", id, next)
}

/** Choose a row or no longer; with Shift all rows from the one before it. */
function tick(list, row, isRange) {
  const rows = [...list.body.children]
  const [at, before] = [rows.indexOf(row), isRange ? rows.indexOf(list.ticked) : -1]
  const chosen = before < 0 ? [row] : rows.slice(Math.min(at, before), Math.max(at, before) + 1)
  list.ticked = row
  act(list, "tick", chosen.map((one) => one.dataset.key), row.getAttribute("aria-selected") !== "true")
}

function reach(list, row) {
  for (const other of list.body.children) other.tabIndex = other === row ? 0 : -1
  row.focus({ preventScroll: false })
}

function onKey(list, event) {
  const row = event.target.closest("tbody tr")
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return
  const rows = [...list.body.children]
  const at = rows.indexOf(row)
  const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1, PageDown: at + 10, PageUp: at - 10 }
  if (event.key in steps) {
    const next = rows[Math.max(0, Math.min(rows.length - 1, steps[event.key]))]
    reach(list, next)
    if (list.data.most_in_sight !== null && next !== row) act(list, "open", next.dataset.key)
  }
  else if (event.key === "Enter") act(list, "open", row.dataset.key)
  else if (event.key === " " && list.data.ticks) tick(list, row)
  else return
  event.preventDefault()
}
