// The component of tables alone; what draws them is rows.js. Tables that say their question (a part of the route's
// answers) are drawn after a click as soon as the route has answered; then Streamlit is told, which draws the same.

const PAINTED_MILLISECONDS = 20
const LATEST_MILLISECONDS = 1000
const boards = new WeakMap()

export default function ({ parentElement, data, setStateValue }) {
  let board = boards.get(parentElement)
  if (!board) {
    board = Object.assign(newBoard(parentElement.querySelector(".board")), { outbox: [], drawn: 0 })
    board.send = () => onAct(board)
    board.press = newPress(board.root, (event) => actOfRows(board, event), (what) => act(board, ...what))
    boards.set(parentElement, board)
  }
  board.tell = () => setStateValue("acts", { by: board.by, list: board.outbox })
  whenFree(board.press, () => acknowledge(board, data))
}

/** What Streamlit has taken needs not be sent again; its tables are drawn unless later clicks are drawn already. */
function acknowledge(board, data) {
  const last = data.taken[0] === board.by ? data.taken[1] : 0
  board.outbox = board.outbox.filter(([number]) => number > last)
  board.asked = data.asked
  if (board.outbox.length && board.drawn > last) return
  if (!board.outbox.length) board.control?.abort()
  showTables(board, data)
}

function showTables(board, data) {
  update(board, data)
  board.root.classList.toggle("told", board.outbox.length > 0 && board.drawn === board.outbox.at(-1)[0])
}

function onAct(board) {
  board.outbox.push(board.waiting.at(-1))
  if (!board.asked) return board.tell()
  tellIn(board, LATEST_MILLISECONDS)
  answer(board)
}

function tellIn(board, milliseconds) {
  clearTimeout(board.telling)
  board.telling = setTimeout(board.tell, milliseconds)
}

/** Draws the route's answer to all acts that Streamlit has not taken; without one, Streamlit draws them. */
async function answer(board) {
  board.control?.abort()
  const { signal } = (board.control = new AbortController())
  const { part, ...question } = board.asked
  const upto = board.outbox.at(-1)[0]
  const acts = board.outbox.map(([, ...what]) => what)
  try {
    const response = await post(JSON.stringify({ ...question, acts, parts: [part], locale: navigator.language }), signal)
    if (!response.ok) throw new Error(String(response.status))
    for await (const line of linesOf(response)) {
      if (signal.aborted) return
      if (line[part]?.length) whenFree(board.press, () => signal.aborted || drawAnswer(board, upto, line[part]))
    }
  } catch {
    if (!signal.aborted) tellIn(board, 0)
  }
}

function drawAnswer(board, upto, tables) {
  board.drawn = upto
  showTables(board, { taken: [board.by, upto], tables })
  tellIn(board, PAINTED_MILLISECONDS)
}
