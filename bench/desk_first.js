// Begins before a page loads. `measured()` says when its first figure was shown, when it stood still, both in
// milliseconds since the navigation, and how much its layout shifted (https://web.dev/articles/cls).
(() => {
  const QUIET = 800
  const FIGURE = "[data-testid=stMetricValue]"
  const found = { first: null, last: 0, shift: 0 }
  const note = () => {
    if (!document.querySelector(FIGURE)) return
    found.last = performance.now()
    found.first ??= found.last
  }
  new MutationObserver(() => requestAnimationFrame(note)).observe(document, { subtree: true, childList: true, characterData: true })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) found.shift += entry.value
  }).observe({ type: "layout-shift", buffered: true })
  window.measured = () =>
    new Promise((resolve) => {
      const look = setInterval(() => {
        const app = document.querySelector("[data-testid=stApp]")
        if (app?.dataset.testScriptState !== "notRunning") found.last = performance.now()
        if (found.first === null || performance.now() - found.last < QUIET) return
        clearInterval(look)
        resolve([found.first, found.last, found.shift])
      }, 20)
    })
})()
