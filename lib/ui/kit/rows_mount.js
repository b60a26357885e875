// The component of tables alone; what draws them is rows.js. Tables that say their question (`asked`, a part of the
// overview's route) come from the route alone, at first and after each click; Streamlit is told once a click is drawn.

const PAINTED_MILLISECONDS = 20
const LATEST_MILLISECONDS = 1000
const KEPT_MILLISECONDS = 120000
const AGAIN_MILLISECONDS = [200, 400, 800, 1600, 3000] // right after a sign-in the cookie is still on its way
const UNREACHABLE = "The desk can't be reached. Your clicks are kept."
const panels = new WeakMap()

export default function ({ parentElement, data, setStateValue }) {
  let panel = panels.get(parentElement)
  if (!panel) {
    const message = parentElement.querySelector(".message")
    panel = Object.assign(newPanel(parentElement.querySelector(".panel")), { message, outbox: [], drawn: 0, failures: 0 })
    panel.send = () => onAct(panel)
    panel.press = newPress(panel.root, (event) => actOfRows(panel, event), (what) => act(panel, ...what))
    panels.set(parentElement, panel)
  }
  panel.tell = () => setStateValue("acts", { by: panel.by, list: panel.outbox })
  whenFree(panel.press, () => acknowledge(panel, data))
}

/** What Streamlit has taken needs not be sent again; once it has all, its tables or those of its question are shown. */
function acknowledge(panel, data) {
  const last = data.taken[0] === panel.by ? data.taken[1] : 0
  panel.outbox = panel.outbox.filter(([number]) => number > last)
  panel.keep = () => trancheKeepClicks(data.key, panel.by, panel.outbox)
  panel.keep()
  if (!data.asked) return showTables(panel, data)
  Object.assign(panel, { asked: data.asked, edition: data.edition })
  if (panel.outbox.length) return
  const isCurrent = panel.key === keyOf(panel, data.asked.params) && performance.now() - panel.since < KEPT_MILLISECONDS
  if (panel.data && isCurrent) showTables(panel, { ...panel.data, taken: data.taken })
  if (!isCurrent) answer(panel)
}

/** A question as one text. */
function keyOf({ asked, edition }, params) {
  return JSON.stringify([asked.project, asked.slicer, Object.entries(params).sort(), edition])
}

function showTables(panel, data) {
  update(panel, data)
  panel.root.classList.toggle("told", panel.outbox.length > 0 && panel.drawn === panel.outbox.at(-1)[0])
}

function onAct(panel) {
  panel.outbox.push(panel.waiting.at(-1))
  panel.keep()
  if (!panel.asked) return panel.tell()
  tellIn(panel, LATEST_MILLISECONDS)
  answer(panel)
}

function tellIn(panel, milliseconds) {
  clearTimeout(panel.telling)
  if (panel.outbox.length) panel.telling = setTimeout(panel.tell, milliseconds)
}

/** Draws the route's answer to the question and all acts that Streamlit has not taken. */
async function answer(panel) {
  panel.control?.abort()
  clearTimeout(panel.retrying)
  const { signal } = (panel.control = new AbortController())
  const { part, ...question } = panel.asked
  const upto = panel.outbox.at(-1)?.[0] ?? panel.number
  const acts = panel.outbox.map(([, ...what]) => what)
  Object.assign(panel, { key: keyOf(panel, question.params), since: performance.now() })
  panel.root.classList.toggle("awaited", !panel.data)
  try {
    const response = await post(JSON.stringify({ ...question, acts, parts: [part], locale: navigator.language }), signal)
    if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail)
    for await (const line of linesOf(response)) {
      if (signal.aborted) return
      if (line.error) throw new Error(line.error.sentence)
      if (line.part === part) whenFree(panel.press, () => signal.aborted || drawAnswer(panel, upto, line))
    }
  } catch (error) {
    if (!signal.aborted) fail(panel, error)
  }
}

function drawAnswer(panel, upto, { part, params, [part]: tables }) {
  Object.assign(panel, { key: keyOf(panel, params), drawn: upto, failures: 0 })
  panel.message.hidden = true
  panel.root.classList.remove("awaited")
  showTables(panel, { taken: [panel.by, upto], tables })
  tellIn(panel, PAINTED_MILLISECONDS)
}

/** Streamlit, once it has the acts, comes with their question; what may pass is asked again before it is said. */
function fail(panel, error) {
  panel.key = null
  if (panel.outbox.length) return tellIn(panel, 0)
  const wait = AGAIN_MILLISECONDS[panel.failures++]
  if (wait !== undefined) return void (panel.retrying = setTimeout(() => panel.root.isConnected && answer(panel), wait))
  const button = make("button", { type: "button" }, "Try again")
  button.addEventListener("click", () => answer(panel))
  panel.message.replaceChildren(make("p", { role: "alert" }, (error instanceof TypeError ? "" : error.message) || UNREACHABLE), button)
  panel.message.hidden = false
}
