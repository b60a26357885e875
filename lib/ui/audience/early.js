// The one board of a tab. A link's figures are drawn before Streamlit's client has run, and adopted by it.

const PLACE = "trancheBoardPlace"

const page = (globalThis.trancheBoard ??= newPage())
if (globalThis.trancheEarly && !page.about) document.body ? drawEarly(page) : addEventListener("DOMContentLoaded", () => page.about || drawEarly(page))

/** A link: asked in the document's head, and drawn where the board will be once Streamlit's client has run. */
function drawEarly(page) {
  const { project, slicer, params } = JSON.parse(globalThis.trancheEarly.body)
  page.about = { project, slicer }
  page.base = params
  const at = { top: 204, left: 75, right: 75, ...JSON.parse(localStorage.getItem(PLACE) ?? "{}")[Math.round(innerWidth / 100)] }
  const place = make("div", { id: "early", style: `position: absolute; z-index: 1; top: ${at.top}px; left: ${at.left}px; right: ${at.right}px` })
  set(page.host, "data-early", isDark() ? "dark" : "light")
  place.append(page.host)
  document.body.append(place)
  show(page)
}

/** Nobody is signed in: the board is drawn once somebody is. */
function leaveEarly(page) {
  document.getElementById("early")?.remove()
  page.about = page.base = null
}

/** As Streamlit's client will decide: the theme that the person chose, or else that of their system. */
function isDark() {
  const chosen = Object.entries(localStorage).find(([name]) => name.startsWith("stActiveTheme"))?.[1] ?? ""
  return /dark/i.test(chosen) || (!/light/i.test(chosen) && matchMedia("(prefers-color-scheme: dark)").matches)
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
