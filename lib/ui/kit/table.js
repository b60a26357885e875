// Draws a table in place: what stands for the same row and column stays the same node.

function newTable(panel, id) {
  const [columns, groups, head, body] = [make("colgroup"), make("tr"), make("tr"), make("tbody")]
  const table = make("table", { role: "grid", "data-table": id }, columns, make("thead", {}, groups, head), body)
  const widths = { keys: {}, own: {}, cards: panel.widths }
  const shown = { box: make("div", { class: "box" }, table), table, columns, groups, head, body, rows: new Map(), widths }
  const whole = { ...shown, card: newCard(panel, shown, id) }
  new ResizeObserver(([{ contentRect }]) => setRoom(panel, whole, contentRect.width)).observe(shown.box)
  return whole
}

function drawTable(shown, all) {
  shown.all = all
  const table = fitted(shown, all)
  table.shared = sharedEnds(table)
  table.tails = tails(table)
  shown.data = table
  set(shown.table, "role", table.is_tree ? "treegrid" : "grid")
  set(shown.table, "aria-label", table.label)
  set(shown.table, "aria-rowcount", String(table.rows.length + 1))
  drawWidths(shown, table)
  drawCard(shown, table)
  drawGroups(shown, table)
  const heads = table.columns.map((column, place) => drawHead(shown, shown.head.children[place], column, place))
  inOrder(shown.head, heads)
  const rows = new Map()
  for (const row of table.rows) {
    const id = row.kind + JSON.stringify(row.values)
    rows.set(id, drawRow(shown.rows.get(id), row, table, id))
  }
  shown.rows = rows
  inOrder(shown.body, [...rows.values()])
  const stops = [...shown.table.querySelectorAll("[data-stop]")]
  if (!stops.some((stop) => stop.tabIndex === 0)) {
    const first = stops.find((stop) => stop.matches("tbody button")) ?? stops[0]
    if (first) first.tabIndex = 0
  }
}

/** Columns only grow while a table is there: what changes in a cell moves no other. A card's figures have the same
 * widths in all cards: for its title in one line, and in two. An arrow stands in the space beside it. */
function measure({ widths }, table) {
  const grow = (kind, name, needed) => (widths[kind][name] = Math.max(widths[kind][name] ?? 0, needed))
  table.columns.forEach((column, place) => {
    const longest = (extra, letter = 1) => Math.max(...table.rows.map((row) => letter * row.cells[place].text.length + extra(row)))
    const level = (row) => (table.is_tree ? 3 * (row.level - 1) + 4 : 0)
    if (!table.card) {
      const cells = column.is_key ? longest((row) => (table.has_records ? 10 : 6) + level(row), WIDE_LETTER) : longest(() => 4) // controls at its end
      grow(column.is_key ? "keys" : "own", column.id, Math.max(column.title.length + 6, Math.min(cells, LONGEST_COLUMN), column.is_key ? LEAST_KEY : 8))
    } else if (!column.is_key) {
      const spaces = [...column.title.matchAll(" ")].map(({ index }) => Math.max(index, column.title.length - index - 1))
      for (const [lines, letters] of [[1, column.title.length], [2, Math.min(column.title.length, ...spaces)]]) {
        grow("cards", `${lines} ${column.title}`, Math.max((column.order || lines === 1 ? BOLD_LETTER : TITLE_LETTER) * letters + BESIDE_TITLE, longest(() => 2), 6))
      }
    }
  })
}

/** The width of a column in letters; a card's titles have two lines where one has no room. */
function lettersOf({ widths, isWide }, table, column) {
  if (column.is_key) return widths.keys[column.id]
  return table.card ? widths.cards[`${isWide ? 1 : 2} ${column.title}`] : widths.own[column.id]
}

function drawWidths(shown, table) {
  const widths = table.columns.map((column) => (table.card && column.is_key ? "" : tableWidth(shown, table, column)))
  const columns = table.columns.map((column, place) => make("col", { "data-column": column.id, style: widths[place] && `width: ${widths[place]}` }))
  if (shown.columns.innerHTML !== columns.map((column) => column.outerHTML).join("")) shown.columns.replaceChildren(...columns)
  shown.table.style.setProperty("width", table.card ? "100%" : `calc(${widths.join(" + ")})`)
  if (!table.card) freeze(shown, table, widths)
}

/** Key columns stay in sight while figures scroll: the first, and on a wide screen all that leave room for figures. */
function freeze(shown, table, widths) {
  const places = table.columns.flatMap(({ is_key }, place) => (is_key ? [place] : []))
  const room = innerWidth < NARROW_SCREEN ? 0 : KEYS_SHARE * innerWidth
  const pixels = places.map((place) => ownWidth(table.id, table.columns[place].id) ?? Math.max((KEYS_SHARE * innerWidth) / places.length, ROOM_OF_A_KEY))
  const count = places.filter((place) => pixels.slice(0, place + 1).reduce((sum, one) => sum + one, 0) <= room + 1).length
  set(shown.table, "data-frozen", String(count))
  for (const place of places) shown.table.style.setProperty(`--left-${place}`, `calc(${["0px", ...widths.slice(0, place)].join(" + ")})`)
}

/** Key columns are as wide as somebody made them, or as their values, but leave room for figures. */
function tableWidth(shown, table, column) {
  const letters = lettersOf(shown, table, column)
  if (!column.is_key) return `${letters.toFixed(1)}ch`
  const own = ownWidth(table.id, column.id)
  if (own) return `min(${own}px, ${100 * KEYS_SHARE}vw)`
  const keys = table.columns.filter(({ is_key }) => is_key).length
  return `min(${letters}ch, max(${Math.round((100 * KEYS_SHARE) / keys)}vw, ${ROOM_OF_A_KEY}px))`
}

/** A line above the titles, with what columns side by side have in common. */
function drawGroups({ groups, table: node }, { columns }) {
  const isGrouped = columns.some(({ group }) => group)
  node.classList.toggle("grouped", isGrouped)
  groups.hidden = !isGrouped // an empty row would be read out
  const starts = isGrouped ? columns.flatMap((column, place) => (place && column.group === columns[place - 1].group ? [] : [place])) : []
  groups.replaceChildren(...starts.map((start, place) => {
    const { group } = columns[start]
    const size = { class: "group", colspan: (starts[place + 1] ?? columns.length) - start }
    return group ? make("th", { ...size, scope: "colgroup", title: group }, make("span", {}, group)) : make("td", size)
  }))
}

function drawHead(shown, node, column, place) {
  const isSame = node?.dataset.column === column.id && Boolean(column.order) === Boolean(node.querySelector("button"))
  if (!isSame) {
    const label = make("span", { class: "title" })
    const inside = column.order ? make("button", { type: "button", tabindex: "-1", "data-stop": "0" }) : make("span")
    inside.append(label, ...(column.order ? [make("span", { class: "arrow", "aria-hidden": "true" })] : []))
    node = make("th", { scope: "col", "data-column": column.id, class: column.is_key ? "key" : "figure" }, inside)
    if (column.is_key && !shown.all.card) {
      const edge = newEdge(node, shown.all.id, column.id, () => drawWidths(shown, shown.data))
      if (!column.order) set(edge, "data-stop", "4") // else its button takes the keys
      set(node, "data-place", place)
      set(node, "aria-label", column.title)
      node.append(edge)
    }
  }
  text(node.querySelector(".title"), shown.isWide === false ? column.title.replace(/, (?=\S+$)/, " ") : column.title) // a unit below its title
  const order = column.order ? `Order by ${column.title}` : ""
  set(node.firstChild, "title", [column.about, order].filter(Boolean).join(" · ") || null)
  return node
}

function drawRow(node, row, table, id) {
  node ??= make("tr", { "data-row": id })
  node.row = row
  set(node, "class", row.kind)
  const [, low, high] = (table.card && row.cells[0].bar) || []
  for (const [name, share] of Object.entries({ low, high })) {
    share === undefined ? node.style.removeProperty(`--${name}`) : node.style.setProperty(`--${name}`, share)
  }
  if (table.is_tree) drawLevel(node, row)
  row.cells.forEach((cell, place) => {
    const column = table.columns[place]
    const old = node.children[place]
    const fresh = old?.dataset.column === column.id ? old : newCell(row, column, place, table)
    if (old !== fresh) old ? old.replaceWith(fresh) : node.append(fresh)
    drawCell(fresh, cell, row, column, place, table)
  })
  while (node.children.length > row.cells.length) node.lastChild.remove()
  return node
}

function newCell(row, column, place, table) {
  const value = make("span", { class: "value" })
  const kind = column.is_key ? "key" : "figure"
  if (!column.is_key) return make("td", { class: kind, "data-column": column.id, "data-stop": "0", tabindex: "-1" }, value)
  const cell = make(place || row.kind === "plain" ? "td" : "th", { class: kind, "data-column": column.id, "data-place": place })
  if (cell.matches("th")) cell.setAttribute("scope", "row")
  if (row.kind !== "row") {
    set(cell, "data-stop", "0")
    set(cell, "tabindex", "-1")
    cell.append(value)
    return cell
  }
  const button = (name, stop, inside) =>
    make("button", { type: "button", class: name, tabindex: "-1", "data-stop": stop }, inside)
  cell.append(button("include", "0", value))
  if (table.has_lines) cell.append(button("line", "2", drawn(LINE_ICON)))
  if (table.card?.is_picker) cell.append(button("only", "2", "Only"))
  if (table.has_records && place === 0) cell.append(button("records", "5", drawn(RECORDS_ICON))) // 3 is a fold, 4 an edge: arrows go to the same stop of another row
  cell.append(button("exclude", "1", drawn(LEAVE_ICON)))
  return cell
}

function drawn(shape) {
  const [icon, path] = ["svg", "path"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name))
  icon.setAttribute("viewBox", "0 0 24 24")
  icon.setAttribute("aria-hidden", "true")
  path.setAttribute("d", shape)
  icon.append(path)
  return icon
}

function drawCell(node, cell, row, column, place, table) {
  const isButton = column.is_key && row.kind === "row"
  isButton ? cutInMiddle(node.querySelector(".value"), telling(cell.text, row, table), table.tails.get(cell.text)) : text(node.querySelector(".value"), cell.text)
  node.classList.toggle("faint", cell.is_faint)
  node.classList.toggle("bar", Boolean(cell.bar))
  node.classList.toggle("sides", Boolean(cell.bar && cell.has_sides))
  node.classList.toggle("negative", Boolean(cell.bar && cell.bar[0] < 0))
  for (const [name, share] of Object.entries({ length: cell.bar?.[0], low: cell.bar?.[1], high: cell.bar?.[2] })) {
    share === undefined ? node.style.removeProperty(`--${name}`) : node.style.setProperty(`--${name}`, share)
  }
  node.classList.toggle("range", Boolean(cell.bar && cell.bar[2] > cell.bar[1]))
  set(node, "title", cell.about || (column.is_key ? cell.text : null))
  if (column.is_key && table.is_tree) drawFold(node, row, cell)
  if (!isButton) return
  set(node.querySelector(".include"), "aria-label", cell.text)
  set(node.querySelector(".include"), "title", `${table.verb} ${cell.text}`)
  set(node.querySelector(".exclude"), "aria-label", `Leave out ${cell.text}`)
  set(node.querySelector(".exclude"), "title", `Leave out ${cell.text}`)
  const records = node.querySelector(".records")
  for (const name of records ? ["aria-label", "title"] : []) {
    set(records, name, `Rows of ${row.cells.filter((_, at) => table.columns[at].is_key).map(({ text }) => text).join(", ")}`)
  }
  if (table.card?.is_picker) set(node.querySelector(".only"), "aria-label", `Only ${cell.text}`)
  for (const name of table.has_lines ? ["aria-label", "title"] : []) {
    set(node.querySelector(".line"), name, `Draw ${cell.text} as a line`)
  }
}

/** How many letters all names of a card share at their start and at their end, up to the border of a word, where
 * one of them has no room. */
function sharedEnds({ card, rows, letters }) {
  const names = rows.filter(({ kind }) => kind === "row").map((row) => row.cells[0].text)
  const isRoomy = names.every((name) => name.length < letters)
  if (!card || card.is_picker || names.length < FEWEST_NAMES || isRoomy) return [0, 0]
  const start = sharedStart(names)
  return [start, sharedStart(names.map((name) => [...name.slice(start)].reverse().join("")))]
}

function sharedStart(names) {
  let count = 0
  while (names.every((name) => count < name.length - 1 && name[count] === names[0][count])) count += 1
  while (count && /[\p{L}\p{N}]/u.test(names[0][count - 1])) count -= 1
  return count < LEAST_SHARED ? 0 : count
}

/** Of names that begin alike, the end that tells each from the others: it stays where a name is cut. */
function tails(table) {
  const rows = table.card ? table.rows.filter(({ kind }) => kind === "row") : []
  const names = rows.map((row) => [row.cells[0].text, telling(row.cells[0].text, row, table)])
  return new Map(names.map(([whole, name]) => {
    const starts = names.map(([, other]) => (other === name ? 0 : sharedStart([name, other])))
    return [whole, name.slice(Math.max(...starts))]
  }))
}

/** The part of a name that tells it from the others of its card; the whole is its title and its label. */
function telling(name, row, { shared: [start, end] }) {
  if (row.kind !== "row" || !(start + end)) return name
  return `${start ? "…" : ""}${name.slice(start, name.length - end)}${end ? "…" : ""}`
}

/** A long name in two parts, of which the first is cut where there is no room: names often differ at their end. */
function cutInMiddle(node, value, tail = value) {
  if (node.textContent === value) return
  const word = value.lastIndexOf(" ", value.length - 3) + 1
  const own = value.length - tail.length
  const place = own ? own : value.length - word <= LONGEST_TAIL ? word : value.length - SHORTEST_TAIL
  const isLong = value.length > SHORTEST_CUT
  node.classList.toggle("cut", isLong)
  if (!isLong) return text(node, value)
  node.replaceChildren(make("span", {}), make("span", {}))
  text(node.firstChild, value.slice(0, place))
  text(node.lastChild, value.slice(place))
}
