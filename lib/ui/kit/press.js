// A click means what was pressed: nothing is drawn while the pointer is down, and what moves in spite of that
// takes no click away.

const NEAR_PIXELS = 6
const LONGEST_PRESS_MILLISECONDS = 2000 // after which what waits for the release is drawn

/** Watches the presses on `root`. `actOf(event)` is what a click there would do, if anything; `perform` does it. */
function newPress(root, actOf, perform) {
  const press = { actOf, perform, isHeld: false, isDone: false, waiting: [] }
  root.addEventListener("pointerdown", (event) => event.button === 0 && event.target.closest("button, td, th") && onDown(press, event), true)
  root.addEventListener("click", (event) => press.isDone && event.detail && event.stopPropagation(), true)
  return press
}

/** Does this now, or once the pointer is up again. */
function whenFree(press, work) {
  if (press.isHeld) return press.waiting.push(work)
  try {
    work()
  } catch (error) {
    console.error("The figures can't be drawn:", error)
  }
}

function onDown(press, event) {
  endPress(press)
  const now = (press.now = { what: press.actOf(event), target: event.target, x: event.clientX, y: event.clientY, ends: new AbortController() })
  const always = { capture: true, signal: now.ends.signal }
  press.isHeld = true
  press.timer = setTimeout(() => free(press), LONGEST_PRESS_MILLISECONDS)
  document.addEventListener("pointerup", (event) => onUp(press, now, event), always)
  document.addEventListener("pointercancel", () => endPress(press), always)
}

/** The browser's own click follows at once where the pointer is still on what it pressed; else this is it. */
function onUp(press, now, event) {
  const isNear = Math.hypot(event.clientX - now.x, event.clientY - now.y) <= NEAR_PIXELS
  const isThere = press.isHeld && now.target.isConnected && event.composedPath().includes(now.target)
  if (now.what && isNear && !isThere && window.getSelection().isCollapsed) {
    press.isDone = true
    press.perform(now.what)
  }
  setTimeout(() => press.now === now && endPress(press))
}

function endPress(press) {
  press.now?.ends.abort()
  press.isDone = false
  free(press)
}

function free(press) {
  clearTimeout(press.timer)
  press.isHeld = false
  for (const work of press.waiting.splice(0)) whenFree(press, work)
}

/** What a click on tables would do: their own answer, given to nobody. */
function actOfRows(panel, { target, shiftKey, altKey }) {
  let what = null
  const tables = { get: (id) => panel.tables.get(id), values: () => [] }
  onClick({ tables, waiting: [], number: 0, send: ([[, ...act]]) => (what = act) }, { target, shiftKey, altKey, detail: 1 })
  return what
}
