// A tab outlives its connection. Streamlit's client connects again by itself, and says nothing. A desk that does not
// know the tab's session (desk_socket.py) could only go on with an empty one: then the page is loaded again from its address.

const UNKNOWN_SESSION = 4404
const DECIDED_MILLISECONDS = 300 // a desk that does not know the session closes the socket before
const QUIET_MILLISECONDS = 400
const INPUT_MILLISECONDS = 1000
const NOTICE_MILLISECONDS = 30000
const LOADED_AGAIN = "tranche-loaded-again"
const LOST = "The desk can't be reached; trying again. Clicks have no effect until it answers."
const AGAIN = "The connection to the desk broke, and this page was loaded again from its address. "
const UNSURE = "Your last click may not have been carried out: check before you repeat it."
const KEPT = "Clicks before that were carried out; text that was not saved must be typed again."

const connection = { isLost: false, isUnsure: false, isLeaving: false, input: -Infinity, isAwaited: false, notice: null, quiet: 0 }

class DeskSocket extends WebSocket {
  constructor(address, protocols) {
    super(address, protocols)
    this.isDesk = String(address).includes("_stcore/stream")
    if (!this.isDesk) return
    this.addEventListener("open", () => setTimeout(() => this.readyState === WebSocket.OPEN && regain(), DECIDED_MILLISECONDS))
    this.addEventListener("close", ({ code }) => (code === UNKNOWN_SESSION ? loadAgain() : lose()))
  }

  send(data) {
    if (this.isDesk) connection.isAwaited = performance.now() - connection.input < INPUT_MILLISECONDS
    super.send(data)
  }
}
window.WebSocket = DeskSocket

/** The connection is gone: what was clicked last is unsure if its run was not over. */
function lose() {
  const app = document.querySelector("[data-testid=stApp]")
  if (app && connection.isAwaited && app.dataset.testScriptState !== "notRunning") connection.isUnsure = true
  if (connection.isLost) return
  connection.isLost = true
  connection.quiet = setTimeout(() => connection.isLost && notify(LOST, true), QUIET_MILLISECONDS)
}

/** The same session goes on. */
function regain() {
  if (!connection.isLost || connection.isLeaving) return
  clearTimeout(connection.quiet)
  connection.isLost = false
  connection.notice?.remove()
  if (connection.isUnsure) notify(UNSURE)
  connection.isUnsure = false
}

/** Loads the page again. Clicks on tables that Streamlit has not taken are in the address. */
function loadAgain() {
  if (connection.isLeaving) return
  connection.isLeaving = connection.isLost = true
  const isUnsure = connection.isUnsure && !CLICKS.test(location.search)
  sessionStorage.setItem(LOADED_AGAIN, isUnsure ? UNSURE : KEPT)
  location.reload()
}

/** A sentence over the page, until it is clicked, or for a while. */
function notify(sentence, stays = false) {
  connection.notice?.remove()
  const notice = document.createElement("div")
  notice.className = "tranche-notice"
  notice.setAttribute("role", "status")
  notice.textContent = sentence
  notice.addEventListener("click", () => stays || notice.remove())
  document.body.append(notice)
  connection.notice = notice
  if (!stays) setTimeout(() => notice.remove(), NOTICE_MILLISECONDS)
}

/** What would be lost has no effect, and says so. The overview keeps its clicks itself. */
function hold(event) {
  connection.input = performance.now()
  const isKey = event.type === "keydown"
  if (!connection.isLost || (isKey && !["Enter", " "].includes(event.key))) return
  const path = event.composedPath()
  if (path.some((one) => one.classList?.contains("tranche-overview"))) return
  if (isKey && path[0].matches?.("input, textarea") && event.key === " ") return
  event.preventDefault()
  event.stopImmediatePropagation()
  notify(LOST, true)
}
for (const type of ["pointerdown", "mousedown", "click", "keydown"]) addEventListener(type, hold, true)

const before = sessionStorage.getItem(LOADED_AGAIN)
sessionStorage.removeItem(LOADED_AGAIN)
if (before) addEventListener("DOMContentLoaded", () => notify(AGAIN + before))
