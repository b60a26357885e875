// The order of a board's cells: a tile for each, moved by a drag, by arrow keys, and by two buttons. It is sent
// whole and numbered, and stays until the server has taken it. `make`, `set`, `text` and `inOrder` are nodes.js's.
const boards = new WeakMap()
const KEYS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity }

export default function ({ parentElement, data, setStateValue }) {
  const list = parentElement.querySelector("ol")
  if (!boards.has(list)) boards.set(list, { list, status: parentElement.querySelector("[role=status]"), nodes: new Map(), number: data.taken })
  const board = boards.get(list)
  board.send = (order) => setStateValue("order", order)
  board.cells = new Map(data.cells.map((cell) => [cell.id, cell]))
  if (board.number <= data.taken) board.order = [...board.cells.keys()]
  drawTiles(board)
}

function drawTiles(board) {
  const order = board.order.filter((id) => board.cells.has(id))
  const focused = board.list.getRootNode().activeElement
  for (const [index, id] of order.entries()) {
    if (!board.nodes.has(id)) board.nodes.set(id, newTile(board, id))
    const { title, width } = board.cells.get(id)
    const node = board.nodes.get(id)
    const [handle, earlier, later] = node.children
    node.style.setProperty("--columns", width)
    text(handle, title)
    set(handle, "aria-label", `Move ${title}, ${index + 1} of ${order.length}`)
    for (const [button, way, end] of [[earlier, "earlier", 0], [later, "later", order.length - 1]]) {
      set(button, "aria-label", `Move ${title} ${way}`)
      button.disabled = index === end
    }
  }
  for (const id of board.nodes.keys()) if (!board.cells.has(id)) board.nodes.delete(id)
  inOrder(board.list, order.map((id) => board.nodes.get(id)))
  if (board.list.contains(focused)) focused.focus() // a node that moves loses it
}

function newTile(board, id) {
  const handle = make("button", { type: "button", class: "handle", title: "Drag, or press an arrow key, to move it" })
  const [earlier, later] = ["‹", "›"].map((sign) => make("button", { type: "button", tabindex: "-1" }, sign))
  const node = make("li", {}, handle, earlier, later)
  const step = (by) => move(board, id, board.order.indexOf(id) + by)
  earlier.addEventListener("click", () => step(-1))
  later.addEventListener("click", () => step(1))
  handle.addEventListener("keydown", (event) => {
    const by = KEYS[event.key]
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    step(by)
  })
  handle.addEventListener("pointerdown", (event) => event.button === 0 && dragTile(board, id, handle, event))
  return node
}

function move(board, id, to) {
  const others = board.order.filter((other) => other !== id)
  const index = Math.min(Math.max(to, 0), others.length)
  if (board.order[index] !== id) {
    board.order = others.toSpliced(index, 0, id)
    board.send([++board.number, ...board.order])
  }
  drawTiles(board)
  text(board.status, `${board.cells.get(id).title} is ${index + 1} of ${board.order.length}`)
}

/** Until the pointer is lifted the tile follows it, and the tile whose place it would take is marked; Escape ends it. */
function dragTile(board, id, handle, start) {
  const node = board.nodes.get(id)
  const ends = new AbortController()
  const target = () => [...board.nodes].find(([, other]) => other.classList.contains("target"))?.[0]
  const mark = (marked) => board.nodes.forEach((other) => other.classList.toggle("target", other === marked))
  const end = () => {
    ends.abort()
    mark(null)
    node.classList.remove("dragged")
    node.style.translate = ""
  }
  const on = (kind, work) => handle.addEventListener(kind, work, { signal: ends.signal })
  handle.setPointerCapture(start.pointerId)
  on("pointermove", ({ clientX, clientY }) => {
    const [x, y] = [clientX - start.clientX, clientY - start.clientY]
    if (!node.classList.contains("dragged") && Math.hypot(x, y) < 5) return
    node.classList.add("dragged")
    node.style.translate = `${x}px ${y}px`
    mark([...board.nodes.values()].find((other) => other !== node && isOver(other, clientX, clientY)))
  })
  on("pointerup", () => {
    const other = target()
    end()
    if (other !== undefined) move(board, id, board.order.indexOf(other))
  })
  on("pointercancel", end)
  on("keydown", (event) => event.key === "Escape" && end())
}

function isOver(node, x, y) {
  const { left, right, top, bottom } = node.getBoundingClientRect()
  return left <= x && x < right && top <= y && y < bottom
}
