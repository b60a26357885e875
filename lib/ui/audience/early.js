// The one overview of a tab. A link's figures are drawn before Streamlit's client has run, and adopted by it.

const PLACE = "trancheOverviewPlace"

const page = (globalThis.trancheOverview ??= newPage())
if (globalThis.trancheEarly && !page.about) document.body ? drawEarly(page) : addEventListener("DOMContentLoaded", () => page.about || drawEarly(page))

/** A link: asked in the document's head, and drawn where the overview will be once Streamlit's client has run. */
function drawEarly(page) {
  const { project, slicer, params } = JSON.parse(globalThis.trancheEarly.body)
  page.about = { project, slicer }
  page.base = params
  const top = innerWidth <= 640 ? 366 : innerWidth < 1280 ? 200 : 155 // below the lines of the question (style.css)
  const at = { top, left: 30, right: 30, ...JSON.parse(localStorage.getItem(PLACE) ?? "{}")[Math.round(innerWidth / 100)] }
  const place = make("div", { id: "early", style: `position: absolute; z-index: 1; top: ${at.top}px; left: ${at.left}px; right: ${at.right}px` })
  set(page.host, "data-early", document.documentElement.dataset.early)
  place.append(page.host)
  document.body.append(place)
  show(page)
}

/** Nobody is signed in, or may see the slicer: the screen says so, and draws the overview once somebody may. */
function leaveEarly(page) {
  document.getElementById("early")?.remove()
  page.about = page.base = null
}

function adopt(page, place) {
  place.append(page.host)
  page.host.removeAttribute("data-early")
  document.getElementById("early")?.remove()
  const { top, left, right } = place.getBoundingClientRect()
  const there = JSON.parse(localStorage.getItem(PLACE) ?? "{}")
  there[Math.round(innerWidth / 100)] = { top: top + scrollY, left, right: document.documentElement.clientWidth - right }
  localStorage.setItem(PLACE, JSON.stringify(there))
}
