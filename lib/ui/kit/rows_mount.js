// The component of tables alone; what draws them is rows.js. Tables that say their question (`asked`, a part of the
// board's route) come from the route alone, at first and after each click; Streamlit is told once a click is drawn.

const PAINTED_MILLISECONDS = 20
const LATEST_MILLISECONDS = 1000
const KEPT_MILLISECONDS = 120000
const AGAIN_MILLISECONDS = [200, 400, 800, 1600, 3000] // right after a sign-in the cookie is still on its way
const UNREACHABLE = "The desk can't be reached. Your clicks are kept."
const boards = new WeakMap()

export default function ({ parentElement, data, setStateValue }) {
  let board = boards.get(parentElement)
  if (!board) {
    const message = parentElement.querySelector(".message")
    board = Object.assign(newBoard(parentElement.querySelector(".board")), { message, outbox: [], drawn: 0, failures: 0 })
    board.send = () => onAct(board)
    board.press = newPress(board.root, (event) => actOfRows(board, event), (what) => act(board, ...what))
    boards.set(parentElement, board)
  }
  board.tell = () => setStateValue("acts", { by: board.by, list: board.outbox })
  whenFree(board.press, () => acknowledge(board, data))
}

/** What Streamlit has taken needs not be sent again; once it has all, its tables or those of its question are shown. */
function acknowledge(board, data) {
  const last = data.taken[0] === board.by ? data.taken[1] : 0
  board.outbox = board.outbox.filter(([number]) => number > last)
  board.keep = () => trancheKeepClicks(data.key, board.by, board.outbox)
  board.keep()
  if (!data.asked) return showTables(board, data)
  Object.assign(board, { asked: data.asked, edition: data.edition })
  if (board.outbox.length) return
  const isCurrent = board.key === keyOf(board, data.asked.params) && performance.now() - board.since < KEPT_MILLISECONDS
  if (board.data && isCurrent) showTables(board, { ...board.data, taken: data.taken })
  if (!isCurrent) answer(board)
}

/** A question as one text. */
function keyOf({ asked, edition }, params) {
  return JSON.stringify([asked.project, asked.slicer, Object.entries(params).sort(), edition])
}

function showTables(board, data) {
  update(board, data)
  board.root.classList.toggle("told", board.outbox.length > 0 && board.drawn === board.outbox.at(-1)[0])
}

function onAct(board) {
  board.outbox.push(board.waiting.at(-1))
  board.keep()
  if (!board.asked) return board.tell()
  tellIn(board, LATEST_MILLISECONDS)
  answer(board)
}

function tellIn(board, milliseconds) {
  clearTimeout(board.telling)
  if (board.outbox.length) board.telling = setTimeout(board.tell, milliseconds)
}

/** Draws the route's answer to the question and all acts that Streamlit has not taken. */
async function answer(board) {
  board.control?.abort()
  clearTimeout(board.retrying)
  const { signal } = (board.control = new AbortController())
  const { part, ...question } = board.asked
  const upto = board.outbox.at(-1)?.[0] ?? board.number
  const acts = board.outbox.map(([, ...what]) => what)
  Object.assign(board, { key: keyOf(board, question.params), since: performance.now() })
  board.root.classList.toggle("awaited", !board.data)
  try {
    const response = await post(JSON.stringify({ ...question, acts, parts: [part], locale: navigator.language }), signal)
    if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail)
    for await (const line of linesOf(response)) {
      if (signal.aborted) return
      if (line.error) throw new Error(line.error.sentence)
      if (line.part === part) whenFree(board.press, () => signal.aborted || drawAnswer(board, upto, line))
    }
  } catch (error) {
    if (!signal.aborted) fail(board, error)
  }
}

function drawAnswer(board, upto, { part, params, [part]: tables }) {
  Object.assign(board, { key: keyOf(board, params), drawn: upto, failures: 0 })
  board.message.hidden = true
  board.root.classList.remove("awaited")
  showTables(board, { taken: [board.by, upto], tables })
  tellIn(board, PAINTED_MILLISECONDS)
}

/** Streamlit, once it has the acts, comes with their question; what may pass is asked again before it is said. */
function fail(board, error) {
  board.key = null
  if (board.outbox.length) return tellIn(board, 0)
  const wait = AGAIN_MILLISECONDS[board.failures++]
  if (wait !== undefined) return void (board.retrying = setTimeout(() => board.root.isConnected && answer(board), wait))
  const button = make("button", { type: "button" }, "Try again")
  button.addEventListener("click", () => answer(board))
  board.message.replaceChildren(make("p", { role: "alert" }, (error instanceof TypeError ? "" : error.message) || UNREACHABLE), button)
  board.message.hidden = false
}
