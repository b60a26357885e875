// Loaded in the head of every page of the desk, before Streamlit's client starts.

// Where the server is: beside this file. Streamlit's client reads it from `__streamlit`.
window.trancheServer = new URL(".", document.currentScript.src).href
window.__streamlit = { BACKEND_BASE_URL: window.trancheServer }

// The colors that Streamlit's client will draw in: of the theme that the person chose, or else of their system.
const theme = Object.entries(localStorage).find(([name]) => name.startsWith("stActiveTheme"))?.[1] ?? ""
const isDark = /dark/i.test(theme) || (!/light/i.test(theme) && matchMedia("(prefers-color-scheme: dark)").matches)
document.documentElement.dataset.early = isDark ? "dark" : "light"

// Streamlit gives the small buttons inside of its pickers the same name everywhere: add the picker's.
const ALIKE = ["Open", "Clear all", "Clear value", "Choose date and time"]
const BUTTONS = ALIKE.map((name) => `button[aria-label="${name}"]`).join()
const PICKERS = "[data-testid=stSelectbox], [data-testid=stMultiSelect], [data-testid=stDateTimeInput]"

function label(picker) {
  return picker?.querySelector("[role=combobox]")?.getAttribute("aria-label") ?? picker?.querySelector("label")?.textContent
}

function nameButtons() {
  for (const button of document.querySelectorAll(BUTTONS)) {
    const name = label(button.closest(PICKERS))?.trim()
    if (name) button.setAttribute("aria-label", `${button.getAttribute("aria-label")}: ${name}`)
  }
}

// streamlit-authenticator turns password managers off, and its h3 follows an h1. A refused password empties its field.
function nameSignInFields() {
  const [name, password] = document.querySelectorAll(".st-key-sign_in_form input")
  if (password?.autocomplete !== "off") return
  name.autocomplete = "username"
  password.autocomplete = "current-password"
  document.querySelector(".st-key-sign_in_form h3").ariaLevel = "2"
  if (name.value) password.focus()
}

const CHANGES = { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] }
new MutationObserver(() => (nameButtons(), nameSignInFields())).observe(document, CHANGES)

// What is pressed is clicked, also where it moves away before the release: leaving a field draws the page anew.
const NEAR_PIXELS = 6
let press = null
let isScrolling = false

addEventListener("pointerdown", ({ target, button, clientX, clientY }) => {
  isScrolling = false
  press = { pressed: button === 0 ? target.closest?.("button") : null, x: clientX, y: clientY }
}, true)

addEventListener("pointerup", ({ target, clientX, clientY }) => {
  const { pressed, x, y } = press ?? {}
  const isNear = Math.hypot(clientX - x, clientY - y) <= NEAR_PIXELS
  if (!isNear || !pressed || pressed.contains(target)) return
  // Where it did not move, what opened at the press covers it: a list, for example, which a click would close.
  const { left, right, top, bottom } = pressed.getBoundingClientRect()
  const isMoved = clientX < left || clientX > right || clientY < top || clientY > bottom
  if (isMoved) setTimeout(() => pressed.click())
}, true)

// React Aria closes the list of a picker with each scroll of the page, though nobody scrolls: what is drawn above it
// moves it too. Then it stays, and is placed anew.
for (const kind of ["wheel", "touchmove"]) addEventListener(kind, () => (isScrolling = true), { capture: true, passive: true })

addEventListener("scroll", (event) => {
  const picker = document.querySelector("[role=combobox][aria-expanded=true]")
  if (isScrolling || !picker || !event.target.contains(picker)) return
  event.stopImmediatePropagation()
  dispatchEvent(new Event("resize"))
}, true)

// Streamlit marks the first item of a menu that opens, but leaves the focus on the menu, where Enter chooses nothing.
addEventListener("focusin", ({ target }) => target.matches?.("[role=menu]") && target.querySelector("[role=menuitem]")?.focus())

// What a popover opens is at the end of the document, and out of reach from a dialog, which holds the focus: Tab leads
// from its button into it, and from its ends back. While the focus is outside, Floating UI keeps each tabindex aside.
const STOPS = "a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex='0'], [data-tabindex='0']"

addEventListener("keydown", (event) => {
  const button = [...document.querySelectorAll("[data-testid=stPopoverButton][aria-expanded=true]")].at(-1)
  if (event.key !== "Tab" || !button) return
  const { stops, isEmpty } = popoverStops()
  const isIn = event.target === button && !event.shiftKey
  const isOut = event.target === stops.at(event.shiftKey ? 0 : -1)
  const mayCome = isIn && isEmpty && !(tabWait?.button === button && tabWait.isOver)
  if (!mayCome && (!stops.length || (!isIn && !isOut))) return
  event.preventDefault()
  event.stopImmediatePropagation() // a dialog would lead to its own next
  if (mayCome) waitForStops(button)
  else (isIn ? stops[0] : button).focus()
}, true)

function popoverStops() {
  const body = [...document.querySelectorAll("[data-testid=stPopoverBody]")].at(-1)
  const stops = [...(body?.querySelectorAll(STOPS) ?? [])]
    .filter((stop) => (stop.dataset.tabindex ?? stop.tabIndex) >= 0 && stop.checkVisibility())
  return { stops, isEmpty: !stops.length && !body?.textContent.trim() }
}

// What is in a popover may be drawn by the run that its opening asks for. Tab waits for it, rather than lead past it.
const CONTENT_MILLISECONDS = 5000
let tabWait = null

function waitForStops(button) {
  if (tabWait?.button === button) return
  const wait = (tabWait = { button, isOver: false })
  const until = performance.now() + CONTENT_MILLISECONDS
  const look = () => {
    const isLeft = document.activeElement !== button || button.ariaExpanded !== "true"
    const { stops, isEmpty } = popoverStops()
    if (!isLeft && isEmpty && performance.now() < until) return requestAnimationFrame(look)
    wait.isOver = !isLeft && isEmpty
    if (!wait.isOver) tabWait = null
    if (!isLeft) stops[0]?.focus()
  }
  look()
}

// Streamlit's client adds an entry to the history for whatever its server changes in the address. Where nobody went
// anywhere (the sign-in led to a screen, a screen named the slicer that it shows), Back would lead to the same again.
const FILLED_IN = ["project", "slicer"]

// Clicks on tables that Streamlit has not taken are in the address, by component, as they are sent (figures/rows.py): a page
// that is loaded again has them. They make no entry of the history: that of their question follows.
const CLICKS = /[?&]acts=[^&]*/
const clicks = {}

window.trancheKeepClicks = (component, by, list) => {
  if (list.length) clicks[component] = { by, list }
  else delete clicks[component]
  const bare = location.search.replace(CLICKS, "")
  const acts = Object.keys(clicks).length ? `${bare ? "&" : "?"}acts=${encodeURIComponent(JSON.stringify(clicks))}` : ""
  if (bare + acts !== location.search) history.replaceState(history.state, "", (bare + acts || location.pathname) + location.hash)
}

function isSamePlace(before, after) {
  if (before.pathname === new URL(window.trancheServer).pathname) return true // the sign-in, which has no screen
  const params = new URLSearchParams(after.search)
  for (const name of FILLED_IN) if (!new URLSearchParams(before.search).has(name)) params.delete(name)
  return before.pathname === after.pathname && String(params) === String(new URLSearchParams(before.search))
}

const push = history.pushState
history.pushState = function (state, unused, address) {
  const next = new URL(address ?? location.href, document.baseURI)
  if (next.pathname !== location.pathname) for (const component of Object.keys(clicks)) delete clicks[component]
  if (CLICKS.test(location.search)) history.replaceState(history.state, "", location.search.replace(CLICKS, "") || location.pathname)
  const isFilledIn = isSamePlace(location, next)
  return (isFilledIn ? history.replaceState : push).call(this, state, unused, address)
}

// A link to figures: they are asked for, and drawn (overview.js), before Streamlit's client runs, which takes a
// browser seconds. So the document keeps that client and all that is loaded ahead for it back for a moment.
const LONGEST_WAIT = 700

function askEarly() {
  const { project, slicer, ...params } = Object.fromEntries(new URLSearchParams(location.search))
  const isLower = params.lower ?? (params.moved === "1" || params.chart)
  const parts = !isLower || isLower === "cards" ? ["head", "cards"] : ["head"]
  const body = JSON.stringify({ project, slicer, params, acts: [], parts, locale: navigator.language })
  const headers = { "Content-Type": "application/json" }
  const control = new AbortController()
  const request = { method: "POST", headers, body, signal: control.signal, priority: "high" }
  const response = fetch(new URL("overview/answer", window.trancheServer), request)
  window.trancheEarly = { body, response, control }
  response.then(({ ok }) => ok || startClient(), startClient)
  document.addEventListener("tranche-drawn", () => requestAnimationFrame(() => setTimeout(startClient)))
  document.addEventListener("DOMContentLoaded", () => {
    for (const link of document.querySelectorAll("link[rel=x-later]")) link.rel = "modulepreload"
    setTimeout(startClient, LONGEST_WAIT)
  })
}

function startClient() {
  const link = document.querySelector("link[data-client]")
  if (!link) return
  const script = document.createElement("script")
  Object.assign(script, { type: "module", crossOrigin: "", src: link.href })
  link.remove()
  document.head.append(script)
}

if (document.currentScript.dataset.early !== undefined) {
  if (CLICKS.test(location.search)) document.addEventListener("DOMContentLoaded", startClient) // only a run takes clicks
  else askEarly()
}
