// While an answer is awaited: what is asked, for how long so far, how long that took lately, and a way to give it up.

const SPEAK_SECONDS = 1
const CANCELLED = "Cancelled: nothing is computed for it any more. Your question is kept."

/** Speaks of a request from its first second on, until its figures are drawn. */
function speak(page, request) {
  clearInterval(page.speaking)
  const since = performance.now()
  const text = make("p")
  const button = make("button", { type: "button" }, "Cancel")
  button.addEventListener("click", () => giveItUp(page, request))
  page.waiting.replaceChildren(text, button)
  page.waiting.hidden = true
  page.speaking = setInterval(() => {
    const seconds = Math.floor((performance.now() - since) / 1000)
    if (page.wish !== request.key || !page.host.isConnected) return hush(page)
    if (seconds < SPEAK_SECONDS) return
    text.textContent = sentenceOf(request.wait, seconds)
    page.waiting.hidden = false
  }, 200)
}

function sentenceOf(wait, seconds) {
  const who = wait?.engine ? `${wait.engine}: figures and leaderboards are being computed` : "Figures are being computed"
  return `${who}, for ${seconds} s so far${wait?.lately ? `; lately this took ${wait.lately} s` : ""}.`
}

function hush(page) {
  clearInterval(page.speaking)
  page.waiting.hidden = true
}

/** The request ends, and with it its statements: what was shown stays. */
function giveItUp(page, request) {
  request.control.abort()
  page.wish = page.listening = page.drawn = null
  hush(page)
  explain(page, CANCELLED, "head", false)
  tellIn(page, PAINTED_MILLISECONDS)
}
