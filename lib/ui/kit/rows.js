// Draws tables in place and sends what is clicked on them. figures/rows.py says what the data are and how acts travel.

const PAGE = 10
const WORDS = { asc: "ascending", desc: "descending" }
const [LEAST_KEY, LONGEST_COLUMN] = [18, 60]
const [SHORTEST_CUT, SHORTEST_TAIL, LONGEST_TAIL] = [18, 7, 14]
const MOST_LINES = 5 // of a key field on the chart (query/state.py)
const FIND_MILLISECONDS = 250
const MOST_FIGURES = 0.55 // their share of a card; the rest is for names
const [FEWEST_NAMES, LEAST_SHARED] = [3, 4] // names that share so many letters at one end
const [KEYS_SHARE, NARROW_SCREEN, ROOM_OF_A_KEY] = [0.6, 700, 195] // of the window, for key columns; pixels
const WIDE_LETTER = 1.1 // of names, whose capitals are wider than the figure that `ch` measures
const [TITLE_LETTER, BOLD_LETTER, BESIDE_TITLE] = [0.9, 1, 1.7] // of a card's columns, in letters of its figures
const FOLD_ICON = "M9 5.5 15.5 12 9 18.5Z"
const LINE_ICON = "M3 17 9 11l4 4 7.6-7.6L22 8.8 13 18l-4-4-4.6 4.4Z"
const RECORDS_ICON = "M4 5h16v2H4Zm0 4h16v2H4Zm0 4h16v2H4Zm0 4h10v2H4Z"
const LEAVE_ICON = "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20Zm0 2a8 8 0 0 1 4.9 1.7L5.7 16.9A8 8 0 0 1 12 4Zm0 16a8 8 0 0 1-4.9-1.7L18.3 7.1A8 8 0 0 1 12 20Z"

function newPanel(root) {
  const panel = { root, by: Math.random().toString(36).slice(2), number: 0, waiting: [], tables: new Map(), widths: {} }
  root.addEventListener("click", (event) => onClick(panel, event))
  root.addEventListener("keydown", (event) => onKey(panel, event))
  root.addEventListener("focusin", (event) => onFocus(event))
  return panel
}

function update(panel, data) {
  forgetTaken(panel, data.taken)
  panel.data = data
  const focused = panel.root.getRootNode().activeElement
  const place = focused?.matches("[data-stop]") ? whereIs(focused) : null
  const wanted = data.tables.map((table) => {
    if (!panel.tables.has(table.id)) panel.tables.set(table.id, newTable(panel, table.id))
    measure(panel.tables.get(table.id), table)
    return whole(panel.tables.get(table.id), table)
  })
  panel.root.classList.toggle("cards", data.tables.some((table) => table.card))
  inOrder(panel.root, wanted)
  for (const table of data.tables) drawTable(panel.tables.get(table.id), table)
  for (const table of data.tables) takeFound(panel, panel.tables.get(table.id))
  showWaiting(panel)
  if (place && panel.root.getRootNode().activeElement !== focused) refocus(panel, focused, place)
}
