// What a page has to press and to read, for test_controls.py: every control in sight, and every figure.

const CONTROLS = `button, a[href], input, textarea, select, [contenteditable=true], .chart, .js-plotly-plot,
  tr[data-key], ${["button", "link", "combobox", "checkbox", "radio", "textbox", "slider", "spinbutton", "switch", "tab", "menuitem"].map((role) => `[role=${role}]`)}`
const AGE = /(minute|hour|day)s? old/
const SHAPES = "path[d], circle, rect, line"
const LEFT_OUT = "svg[viewBox='0 0 24 24'], .st-key-question_filters, [data-testid=stPopoverBody], [role=dialog], .st-key-date_note, style, script"

function* all(root, hosts = []) {
  for (const element of root.querySelectorAll("*")) {
    yield [element, hosts]
    if (element.shadowRoot) yield* all(element.shadowRoot, [element, ...hosts])
  }
}

const isSeen = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0

const nameOf = (element) =>
  (element.getAttribute("aria-label") || element.labels?.[0]?.innerText || element.innerText || element.placeholder || "").trim().replace(/\s+/g, " ")

/** Streamlit's key, with what the element is within a component of ours, or its label within a container. */
function idOf(element, hosts) {
  const keyed = [element, ...hosts].map((node) => node.closest("[class*=st-key-]")).find(Boolean)
  const role = element.getAttribute("role") ?? element.localName
  if (!keyed) return `${role} ${nameOf(element)}`
  const key = [...keyed.classList].find((name) => name.startsWith("st-key-")).slice("st-key-".length)
  const act = element.dataset.act?.startsWith("[") ? JSON.parse(element.dataset.act)[0] : ""
  if (element.matches(".js-plotly-plot")) return `${key}/plot`
  if (hosts.length) return `${key}/${act || element.className || (element.closest("thead") ? "order" : element.localName)}`
  return keyed.matches(".stVerticalBlock, .stHorizontalBlock") ? `${key}/${nameOf(element)}` : key
}

/** The names of all controls in sight, each of which is marked with its own. */
window.trancheControls = () => {
  const names = new Set()
  for (const [element, hosts] of all(document)) {
    if (element.dataset?.control) delete element.dataset.control
    if (!element.matches(CONTROLS) || !isSeen(element)) continue
    element.dataset.control = idOf(element, hosts)
    names.add(element.dataset.control)
  }
  return [...names]
}

/** The texts with a figure in them, and the shapes of charts, in the order of the page; without what is open over it. */
window.trancheFigures = () => {
  const figures = []
  const main = document.querySelector("[data-testid=stMain]")
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE && /\d/.test(node.data) && !AGE.test(node.data)) figures.push(node.data.trim())
    if (node.nodeType !== Node.ELEMENT_NODE) return
    // What is `display: contents` has no box, so it counts as hidden: Streamlit's element around each component.
    if (node.matches(LEFT_OUT) || (getComputedStyle(node).display !== "contents" && !node.checkVisibility())) return
    if (node.matches(SHAPES)) figures.push([...node.attributes].filter(({ name }) => ["d", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height"].includes(name)).map(({ value }) => value).join(" "))
    for (const child of (node.shadowRoot ?? node).childNodes) walk(child)
  }
  walk(main)
  return figures
}

/** The rows of values of leaderboards and the split in sight: the table, key fields with values, and texts by column. */
window.trancheRows = () =>
  [...all(document)].filter(([row]) => row.matches("tr.row[data-row^='row[[']") && isSeen(row)).flatMap(([row, hosts]) => {
    const table = row.closest("[data-card]") ? "card" : row.closest("[data-table]")?.dataset.table
    if (!["card", "split"].includes(table) || hosts.some((host) => host.closest("[data-testid=stPopoverBody]"))) return []
    const cells = [...row.querySelectorAll("td[data-column]")].map((cell) => [cell.dataset.column, cell.querySelector(".value")?.textContent ?? ""])
    return [[[table], JSON.parse(row.dataset.row.slice("row".length)), Object.fromEntries(cells)]]
  })

/** Whether something still loads or runs, or the overview is drawn before Streamlit has a place for it. */
window.trancheIsBusy = () => Boolean(document.querySelector(".tranche-overview:not([class*=st-key-] *), [data-testid=stApp]:not([data-test-script-state=notRunning]), [data-testid=stSkeleton], [data-stale=true]")) || [...all(document)].some(([element]) => element.getAttribute("aria-busy") === "true")
