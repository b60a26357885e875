// Loaded in the head of every page of the desk, before Streamlit's client starts.

// Where the server is: beside this file.
window.__streamlit = { BACKEND_BASE_URL: new URL(".", document.currentScript.src).href }

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

new MutationObserver(nameButtons).observe(document, { childList: true, subtree: true })
