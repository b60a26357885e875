// Begins before a page loads. `measured()` says when its first figure was shown, when it stood still, both in
// milliseconds since the navigation, and how much its layout shifted (https://web.dev/articles/cls).
(() => {
  const QUIET = 800
  const LONGEST = 30000
  const OVERVIEW = ".tranche-overview"
  const FIGURE = ".fig-value"
  const WATCHED = { subtree: true, childList: true, characterData: true }
  const found = { first: null, last: 0, shift: 0 }
  const roots = new Set()
  const note = () => {
    const overview = document.querySelector(OVERVIEW)?.shadowRoot
    if (overview && !roots.has(overview)) watch(overview)
    if (!overview?.querySelector(FIGURE)) return
    found.last = performance.now()
    found.first ??= found.last
  }
  const watch = (root) => {
    roots.add(root)
    new MutationObserver(() => requestAnimationFrame(note)).observe(root, WATCHED)
  }
  watch(document)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) found.shift += entry.value
  }).observe({ type: "layout-shift", buffered: true })
  window.measured = () =>
    new Promise((resolve, reject) => {
      const look = setInterval(() => {
        const now = performance.now()
        const app = document.querySelector("[data-testid=stApp]")
        if (app?.dataset.testScriptState !== "notRunning") found.last = now
        if (now <= LONGEST && (found.first === null || now - found.last < QUIET)) return
        clearInterval(look)
        now > LONGEST ? reject(new Error(`Not settled after ${LONGEST} ms`)) : resolve([found.first, found.last, found.shift])
      }, 20)
    })
})()
