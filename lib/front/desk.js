// Loaded in the head of every page of the desk, before Streamlit's client starts.

// Where the server is: beside this file. Streamlit's client reads it from `__streamlit`.
window.trancheServer = new URL(".", document.currentScript.src).href
window.__streamlit = { BACKEND_BASE_URL: window.trancheServer }

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

// A button over each figure of the headline chooses it: the chosen one is pressed.
function pressFigures() {
  for (const button of document.querySelectorAll('[class*="st-key-show_figure_"] button')) {
    const isChosen = button.closest('[class*="st-key-figure_"]')?.querySelector(".st-key-chosen_figure")
    const pressed = String(Boolean(isChosen))
    if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed)
  }
}

function describe() {
  nameButtons()
  pressFigures()
}

const CHANGES = { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] }
new MutationObserver(describe).observe(document, CHANGES)
