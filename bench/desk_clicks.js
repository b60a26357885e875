// Clicks an element of a page, and says when the first figure changed and when the last did, in milliseconds.
(find) => {
  const QUIET = 400
  const LONGEST = 20000
  const roots = () => [...document.querySelectorAll("*")].map((node) => node.shadowRoot).filter(Boolean)
  const texts = (root, what) => [...root.querySelectorAll(what)].map((node) => node.textContent)
  const lines = () => [...document.querySelectorAll(".js-line, .point")].map((node) => node.getAttribute("d") ?? "")
  const boards = roots().filter((root) => root.querySelector(".board"))
  const figures = () => [
    ...texts(document, "[data-testid=stMetricValue], [data-testid=stMetricDelta]"),
    ...boards.flatMap((root) => texts(root, "td .value, th .value")),
    ...lines(),
  ].join("|")
  const isRunning = () => !document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]")
  const element = [document, ...boards].map((root) => root.querySelector(find)).find(Boolean)
  if (!element) throw new Error(`Nothing to click: ${find}`)
  return new Promise((resolve, reject) => {
    let [shown, first, last] = [figures(), null, 0]
    const start = performance.now()
    element.click()
    const look = () => {
      const now = performance.now() - start
      const seen = figures()
      if (seen !== shown) [shown, first, last] = [seen, first ?? now, now]
      if (isRunning()) last = now
      if (now > LONGEST) return reject(new Error(`Not settled after ${LONGEST} ms: ${find}`))
      now - last > QUIET && first !== null ? resolve([first, last]) : requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
}
