// Clicks an element of a page, and says when the first figure changed and when the last did, in milliseconds.
// A change counts from the frame that shows it. Only changes are looked at, so that measuring costs little.
(find) => {
  const QUIET = 400
  const LONGEST = 20000
  const FIGURES = "[data-testid=stMetricValue], [data-testid=stMetricDelta], .js-line, .point, .fig-value, .delta, .course, td .value, th .value"
  const inside = [...document.querySelectorAll("*")].map((node) => node.shadowRoot)
  const roots = inside.filter((root) => root?.querySelector(".panel"))
  const app = document.querySelector("[data-testid=stApp]")
  const isRunning = () => app.dataset.testScriptState !== "notRunning"
  const element = [document, ...roots].map((root) => root.querySelector(find)).find(Boolean)
  if (!element) throw new Error(`Nothing to click: ${find}`)

  const isOf = (node) => node.nodeType === 1 && (node.matches(FIGURES) || node.querySelector(FIGURES) !== null)
  const isFigure = ({ target, addedNodes, attributeName }) => {
    if (attributeName === "hidden") return isOf(target)
    const changed = target.nodeType === 1 ? target : target.parentElement
    return changed?.closest(FIGURES) || [...addedNodes].some(isOf)
  }
  return new Promise((resolve, reject) => {
    let [first, last] = [null, 0]
    const start = performance.now()
    const seen = () => {
      last = performance.now() - start
      first ??= last
    }
    const watch = new MutationObserver((changes) => changes.some(isFigure) && requestAnimationFrame(seen))
    const what = { subtree: true, childList: true, characterData: true, attributeFilter: ["d", "hidden"] }
    for (const root of [document.body, ...roots]) watch.observe(root, what)
    const wasDisabled = element.disabled
    const select = element.closest("select")
    if (select) select.value = element.value
    select ? select.dispatchEvent(new Event("change", { bubbles: true })) : element.click()
    const look = setInterval(() => {
      const now = performance.now() - start
      if (isRunning()) last = now
      if (now <= LONGEST && (now - last <= QUIET || first === null)) return
      clearInterval(look)
      watch.disconnect()
      const why = `clicked ${wasDisabled ? "while disabled" : ""}, first figure after ${first} ms, script ${app.dataset.testScriptState}`
      now > LONGEST ? reject(new Error(`Not settled after ${LONGEST} ms: ${find} (${why})`)) : resolve([first, last])
    }, 10)
  })
}
