// A card around a table: its title, how many values there are, a field to find some by, and the way to all of them.

function newCard(panel, shown, id) {
  const title = make("h2", { class: "name" })
  const about = make("span", { class: "about", role: "status" })
  const find = make("input", { type: "search", class: "find", placeholder: "Find", maxlength: "100" })
  const more = make("button", { type: "button", class: "more" }, "Open")
  const message = make("p", { class: "message" })
  const lines = make("button", { type: "button", class: "more lines", "aria-pressed": "false" }, "Lines")
  lines.addEventListener("click", () => drawLines(panel, id, lines))
  const head = make("header", {}, title, about, find, lines, more)
  const node = make("section", { class: "card", "data-card": id }, head)
  find.addEventListener("input", () => findSoon(panel, id, find))
  find.addEventListener("keydown", (event) => onFindKey(panel, shown, event))
  more.addEventListener("click", () => act(panel, "open", id))
  return { node, title, about, find, lines, more, message }
}

/** What stands on the page for a table: itself, or the card around it. */
function whole(shown, table) {
  if (!table.card) return shown.box
  const { node, message } = shown.card
  if (shown.box.parentNode !== node) node.append(shown.box, message)
  return node
}

function drawCard(shown, table) {
  if (!table.card) return
  const { node, title, about, find, lines, more, message } = shown.card
  text(title, table.card.title)
  drawAbout(about, table.card.about)
  set(about, "title", table.card.about)
  text(message, table.card.message)
  set(node, "aria-label", table.label)
  set(find, "aria-label", `Find in ${table.card.title}`)
  set(more, "aria-label", `Open ${table.card.title} in full`)
  set(more, "title", `Open ${table.card.title} in full`)
  message.hidden = !table.card.message
  more.hidden = table.card.is_picker
  lines.hidden = !table.has_lines || !rowsOfLines(table).length
  const isDrawn = rowsOfLines(table).every((row) => row.color)
  set(lines, "aria-pressed", String(isDrawn))
  set(lines, "aria-label", `Lines of ${table.card.title}`)
  set(lines, "title", isDrawn ? "Remove these lines from the chart" : `Draw the first ${MOST_LINES} values as lines`)
  node.classList.toggle("picker", table.card.is_picker)
  shown.box.hidden = table.rows.length === 0
  const isTyping = find.getRootNode().activeElement === find
  if (!isTyping && find.value !== table.card.find) find.value = table.card.find
}

/** A card has room for so many letters. */
function setRoom(panel, shown, width) {
  const letters = Math.floor((2 * width) / parseFloat(getComputedStyle(shown.box).fontSize))
  if (!shown.all?.card || !width || letters === shown.letters) return
  shown.letters = letters
  drawTable(shown, shown.all)
  showWaiting(panel)
}

/** A card has the columns that it has room for beside its names, those of the lowest rank, and says how many it
 * hides; their titles have one line where all have room for it. Names have the rest: `letters`. */
function fitted(shown, table) {
  if (!table.card || !shown.letters || !table.columns.length) return { ...table }
  const figures = table.columns.filter((column) => !column.is_key).sort((one, other) => one.rank - other.rank)
  const room = MOST_FIGURES * shown.letters
  const width = (columns) => columns.reduce((sum, column) => sum + lettersOf(shown, table, column), 0)
  shown.isWide = true
  shown.isWide = width(figures) <= room
  const there = figures.filter((_, place) => place === 0 || width(figures.slice(0, place + 1)) <= room)
  const letters = shown.letters - width(there)
  const count = figures.length - there.length
  if (!count) return { ...table, letters }
  const only = (list) => list.filter((_, place) => table.columns[place].is_key || there.includes(table.columns[place]))
  const about = [table.card.about, `${count} ${count === 1 ? "column" : "columns"} hidden`].filter(Boolean).join(" · ")
  const rows = table.rows.map((row) => ({ ...row, cells: only(row.cells) }))
  return { ...table, letters, columns: only(table.columns), rows, card: { ...table.card, about } }
}

/** What is said beside a card's title, part by part: those that have no room are left out whole. */
function drawAbout(about, sentence) {
  if (about.textContent === sentence) return
  const parts = sentence ? sentence.split(" · ") : []
  about.replaceChildren(...parts.map((part, place) => make("span", {}, place ? ` · ${part}` : part)))
}

/** The rows of a card whose values may have lines. */
function rowsOfLines(table) {
  return table.rows.filter((row) => row.kind === "row").slice(0, MOST_LINES)
}

function drawLines(panel, id, button) {
  const values = rowsOfLines(panel.tables.get(id).all).flatMap((row) => row.values)
  act(panel, button.getAttribute("aria-pressed") === "true" ? "undraw" : "draw", values)
}

/** The service is asked once nobody has typed for a moment. */
function findSoon(panel, id, find) {
  find.isEntered = false
  clearTimeout(find.waiting)
  find.waiting = setTimeout(() => act(panel, "find", id, find.value.trim()), FIND_MILLISECONDS)
}

/** The arrow goes down to the values; Enter takes the only one that is found, also where it has yet to come. */
function onFindKey(panel, shown, event) {
  if (event.key === "ArrowDown") {
    event.preventDefault()
    shown.body.querySelector(".row [data-stop]")?.focus()
  }
  if (event.key !== "Enter" || event.isComposing) return
  event.target.isEntered = Boolean(event.target.value.trim())
  takeFound(panel, shown)
}

function takeFound(panel, { card, all, body }) {
  const find = card?.find
  if (!find?.isEntered || all.card.find !== find.value.trim()) return
  find.isEntered = false
  const [cell, ...others] = body.querySelectorAll(".row > .key")
  if (cell && !others.length) choose(panel, cell, false)
}
