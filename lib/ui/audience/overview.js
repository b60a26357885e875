// One overview a page: headline, time chart and leaderboards, drawn from one store (figures/rows.py says how acts travel).
// What is shown is always the question that Streamlit took last, and the acts since then.

const COMPONENT = "leaderboards" // clicks.py
const PAINTED_MILLISECONDS = 20
const LATEST_MILLISECONDS = 1000
const LEFT_MILLISECONDS = 250
const COOKIE_MILLISECONDS = [200, 400, 800, 1600, 3000] // right after a sign-in the cookie is still on its way
const RETRY_MILLISECONDS = [1000, 2000, 4000, 8000, 15000, 30000] // after what may pass
const UNREACHABLE = "The desk can't be reached. What is shown is not up to date; your clicks are kept."
const ONLY_HEAD = ["grain", "trend", "second"]
const ONLY_CARDS = ["order", "find", "card"]
const USUAL_ACROSS = 4
const LOWER = ["lower", "open", "records"] // acts that show another tab
const TABS = { cards: "Leaderboards", split: "Split", moved: "What moved", records: "Rows" } // what stands below the chart
const STEPS = { undo: ".st-key-question_undo button", redo: ".st-key-question_redo button" }

function newPage() {
  const host = make("div", { class: "tranche-overview" })
  const shadow = host.attachShadow({ mode: "open" })
  const style = make("style")
  style.textContent = STYLE
  const names = ["problem", "heads", "tools", "chart", "foot", "tabs", "problem"]
  const [problem, heads, tools, chart, foot, tabs, missing] = names.map((name) => make("div", { class: name }))
  const cards = make("div", { class: "panel cards" })
  const lower = make("div", { class: "lower" }, missing, cards)
  const below = make("div", { class: "below" }, tools, foot)
  const root = make("div", { class: "root", "aria-busy": "true" }, problem, heads, chart, below, tabs, lower)
  set(tabs, "role", "group")
  set(tabs, "aria-label", "Below the chart")
  tabs.append(...Object.entries(TABS).map(([name, title]) => make("button", { type: "button", "data-act": JSON.stringify(["lower", name]) }, title)))
  tabs.append(newAdder((name) => act(own.cards, "card", name)))
  shadow.append(style, root)
  problem.hidden = missing.hidden = true
  set(chart, "tabindex", "0")
  set(chart, "role", "img")
  const own = { host, root, problems: { head: problem, cards: missing }, heads, tools, chart, foot, tabs, acts: [], outbox: [], base: null, about: null, drawn: null, steps: null, dimmed: [], store: newStore(), tries: 0, failures: 0 }
  own.waiting = root.appendChild(make("div", { class: "problem", role: "status", hidden: "" }))
  own.cards = newPanel(cards)
  own.cards.send = () => onAct(own)
  own.time = newChart(own)
  own.press = newPress(root, (event) => actAt(own, event), (what) => act(own.cards, ...what))
  root.addEventListener("click", (event) => onControl(own, event))
  root.addEventListener("change", (event) => event.target.matches(".tools select") && act(own.cards, event.target.name, event.target.value))
  root.addEventListener("pointerdown", (event) => event.button === 0 && askAhead(own, event))
  root.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && askAhead(own, event))
  document.addEventListener("pointerup", () => giveUp(own), true)
  document.addEventListener("click", (event) => onStep(own, event), true)
  const skip = make("button", { type: "button", class: "tranche-skip" }, "Skip to leaderboards") // the first stop of the page
  skip.addEventListener("click", () => cards.querySelector("tbody .include")?.focus())
  document.body.prepend(skip)
  own.savePicture = (file) => savePicture(own.time, file)
  own.hasPicture = () => Boolean(own.time.picture.querySelector("svg"))
  return own
}

/** Streamlit's call: with its first data, and with each change of them. */
export function mount({ parentElement, data, setStateValue }) {
  const place = parentElement.querySelector(".place")
  if (page.host.parentNode !== place) adopt(page, place)
  page.send = () => setStateValue("acts", { by: page.cards.by, list: page.outbox })
  whenFree(page.press, () => acknowledge(page, data))
}

/** What Streamlit has taken needs not be sent again; once it has all, the overview shows what it says (a picker, Back). */
function acknowledge(page, data) {
  const about = { project: data.project, slicer: data.slicer }
  if (page.about && (page.about.project !== about.project || page.about.slicer !== about.slicer)) clear(page)
  if (page.data && JSON.stringify(page.data.edition) !== JSON.stringify(data.edition)) outdate(page)
  page.about = about
  page.data = data
  const shown = encodeURIComponent(`${data.project}~${data.slicer}`)
  const secure = location.protocol === "https:" ? "; Secure" : ""
  document.cookie = `last_slicer=${shown}; Path=/; Max-Age=31536000; SameSite=Lax${secure}` // start_page.py
  drawAdder(page.tabs.lastChild, data.keys)
  page.root.classList.toggle("elsewhere", lowerOf(data.params, []) !== "cards") // Streamlit draws what is below
  if (page.head?.figures.length) drawTools(page.tools, page.head, data.fields)
  const last = data.taken[0] === page.cards.by ? data.taken[1] : 0
  page.outbox = page.outbox.filter(([number]) => number > last)
  if (page.outbox.length) {
    requestAnimationFrame(() => showSteps(page))
    return tellIn(page, LATEST_MILLISECONDS)
  }
  page.isLate = Boolean(page.wish && page.acts.length) // the answer that is awaited is of this question, most likely
  tellIn(page, LATEST_MILLISECONDS)
  if (page.isLate) return
  page.base = data.params
  page.acts = []
  page.steps = { undo: [...data.steps.undo], redo: [...data.steps.redo] }
  requestAnimationFrame(() => showSteps(page))
  show(page)
}

/** An act of a person: it is kept until Streamlit has taken it, shown, and then sent. */
function onAct(page) {
  const numbered = page.cards.waiting.at(-1)
  page.acts.push(numbered)
  page.outbox.push(numbered)
  tellIn(page, LATEST_MILLISECONDS)
  const [, kind, value] = numbered
  if (kind === "field") showChosenField(page, value)
  if (LOWER.includes(kind)) holdStill()
  show(page)
}

/** Another tab may be shorter: the page keeps its height, so that it is not scrolled. */
function holdStill() {
  const main = document.querySelector("[data-testid=stMain]")
  const block = main?.querySelector("[data-testid=stMainBlockContainer]")
  if (block) block.style.minHeight = `${main.scrollTop + main.clientHeight}px`
}

/** A control outside of the cards that carries its act. */
function onControl(page, event) {
  const control = event.target.closest("[data-act]")
  if (!control || control.getAttribute("aria-pressed") === "true") return
  if (control.dataset.act === "again") return again(page)
  act(page.cards, ...JSON.parse(control.dataset.act))
}

/** Undo and redo travel as acts do. The question that they lead to is shown at once where it is known. */
function onStep(page, event) {
  const which = Object.keys(STEPS).find((name) => event.target.closest?.(STEPS[name]))
  if (!which || !page.steps || !page.root.isConnected) return
  event.stopPropagation() // Streamlit would make one click of two quick ones, and none before it has drawn the last step
  const there = page.acts.length ? null : page.steps[which].pop()
  page.outbox.push([++page.cards.number, which, ...(there ? [there] : [])])
  if (!there) return tellIn(page, 0, true)
  page.steps[which === "undo" ? "redo" : "undo"].push(page.base)
  page.base = there
  tellIn(page, LATEST_MILLISECONDS)
  showSteps(page)
  show(page)
}

/** Streamlit's buttons are as its last run drew them: a step that is known since then can be gone already. */
function showSteps(page) {
  for (const [which, find] of Object.entries(STEPS)) {
    const button = document.querySelector(find)
    const isKnown = page.steps?.[which].length > 0
    if (button && (isKnown || !page.outbox.length)) button.disabled = !isKnown
  }
}

/** Sends the acts, once the figures are painted: Streamlit's run would take the server's time from them. */
function tellIn(page, milliseconds, isNow = false) {
  clearTimeout(page.telling)
  trancheKeepClicks(COMPONENT, page.cards.by, page.outbox)
  page.host.classList.toggle("told", page.outbox.length > 0)
  if (!page.outbox.length) return
  if (isNow) return page.send?.()
  page.telling = setTimeout(() => page.send?.(), milliseconds)
}

/** The acts that change figures. */
function actsOf(page) {
  return page.acts.map(([, ...what]) => what).filter(([kind]) => !LOWER.includes(kind))
}

/** The tab in sight, as the link has it (state.py), and after these acts. */
function lowerOf(params, acts) {
  const [, kind, tab] = acts.findLast(([, kind]) => LOWER.includes(kind)) ?? []
  const chosen = { open: "split", records: "records" }[kind] ?? tab
  return chosen ?? params.lower ?? (params.moved === "1" ? "moved" : params.chart ? "split" : "cards")
}

function partsInSight(page) {
  return lowerOf(page.base, page.acts) === "cards" ? ["head", "cards"] : ["head"]
}

/** The parts that differ from what is drawn, by the acts since then. */
function staleParts(page) {
  const { drawn, acts } = page
  if (!drawn || drawn.base !== page.base) return ["head", "cards"]
  const since = acts.filter(([number, kind]) => number > drawn.upto && !LOWER.includes(kind))
  const isOnly = (kinds) => since.length > 0 && since.every(([, kind]) => kinds.includes(kind))
  if (isOnly(ONLY_CARDS) || (!since.length && !drawn.whole.cards)) return ["cards"]
  return isOnly(ONLY_HEAD) && drawn.whole.cards ? ["head"] : ["head", "cards"]
}

/** What to ask for: the stale parts that are in sight. The other parts are those of `base`. */
function partsOf(page) {
  const stale = staleParts(page)
  const parts = partsInSight(page).filter((part) => stale.includes(part))
  if (!parts.length) return { parts: partsInSight(page), base: {} }
  return { parts, base: stale.length === 2 ? {} : page.drawn.whole }
}

/** The tab in sight, and how many cards are in a row. */
function showTabs(page) {
  page.root.style.setProperty("--across", page.base.across ?? USUAL_ACROSS)
  const lower = lowerOf(page.base, page.acts)
  for (const node of [page.host, document.documentElement]) set(node, "data-lower", lower)
  for (const tab of page.tabs.querySelectorAll("button")) set(tab, "aria-pressed", String(JSON.parse(tab.dataset.act)[1] === lower))
}

/** Shows the question: from the store at once, or as its parts come. What is stale meanwhile is dimmed. */
function show(page) {
  const { store, about, base } = page
  showTabs(page)
  const isLacking = (whole) => partsInSight(page).some((part) => !whole[part])
  const [acts, upto] = [actsOf(page), page.acts.at(-1)?.[0] ?? page.cards.number]
  const key = keyOf(about, base, acts)
  if (page.drawn?.keys.includes(key) && !isOld(store, page.drawn) && !isLacking(page.drawn.whole)) return settle(page, upto)
  if (page.listening === key && store.underway.has(key)) return
  page.wish = key
  page.listening = null
  const kept = find(store, key)
  if (kept) {
    for (const part of partsInSight(page)) if (kept[part]) draw(page, { part, [part]: kept[part] }, upto)
    finish(page, kept, upto)
    if (!isLacking(kept) && (!kept.ahead || kept.is_exact)) return
  }
  const asked = partsOf(page)
  if (!kept || isLacking(kept)) dim(page, asked.parts)
  const request = ask(store, about, { params: base, acts, ...asked })
  listen(page, request, upto)
  speak(page, request)
}

/** Draws what a request brings, for as long as nothing else is wanted. */
function listen(page, request, upto) {
  const { key } = request
  page.listening = key
  const isAwaited = () => page.listening === key
  const onLine = (line) => {
    if (!isAwaited()) return
    draw(page, line, upto)
    if (request.wanted.every((part) => request.lines.some((one) => one.part === part))) finish(page, request.whole, upto, request)
  }
  request.lines.forEach(onLine)
  request.listeners.add((line) => whenFree(page.press, () => onLine(line)))
  request.promise.then(
    () => whenFree(page.press, () => isAwaited() && isUnfinished(page, request) && show(page)),
    (error) => whenFree(page.press, () => isAwaited() && fail(page, error, request)),
  )
}

/** Whether more has to be asked: exact figures, or a tab that came in sight meanwhile. */
function isUnfinished(page, { ahead, failed, whole }) {
  return (ahead && !whole.is_exact) || (!failed && partsInSight(page).some((part) => !whole[part]))
}

/** Another answer than what is drawn would come now: it is asked for with the next change. */
function isOld(store, drawn) {
  return performance.now() - drawn.since > KEPT_MILLISECONDS && !store.underway.size
}

function draw(page, line, upto) {
  if (line.error) return explain(page, line.error.sentence, line.part, line.error.is_passing)
  if (line.part in page.problems) unexplain(page.problems[line.part])
  if (line.part === "head") drawFigures(page, line.head)
  if (line.part === "cards") update(page.cards, { taken: [page.cards.by, upto], tables: line.cards })
  dim(page, page.dimmed.filter((part) => part !== line.part))
  tellIn(page, PAINTED_MILLISECONDS)
}

/** All parts of an answer are drawn; exact figures may still follow. */
function finish(page, whole, upto, request) {
  page.tries = 0
  if (!request?.failed) page.failures = 0
  page.drawn = null
  if (!request?.failed) {
    const keys = [keyOf(page.about, page.base, actsOf(page)), keyOf(page.about, whole.params)]
    page.drawn = { keys, base: page.base, upto, whole: { ...whole }, since: performance.now() }
  }
  settle(page, upto)
  document.dispatchEvent(new Event("tranche-drawn"))
}

/** Nothing is awaited any more. */
function settle(page, upto) {
  page.wish = null
  hush(page)
  if (page.drawn) page.drawn.base = page.base
  if (page.drawn) page.drawn.upto = upto
  page.cards.waiting = page.cards.waiting.filter(([number]) => number > upto)
  showWaiting(page.cards)
  dim(page, [])
  tellIn(page, PAINTED_MILLISECONDS)
  if (page.isLate) acknowledge(page, page.data)
}

/** Dims the parts that are stale. */
function dim(page, parts) {
  page.dimmed = parts
  set(page.root, "aria-busy", String(parts.length > 0))
  page.root.classList.toggle("stale-head", parts.includes("head"))
  set(page.cards.root, "aria-busy", String(parts.includes("cards")))
}

function fail(page, error, request) {
  if (request.ahead) {
    if (error.status === 204) page.declined = true
    return show(page)
  }
  if (error.name === "AbortError") return
  page.wish = page.listening = page.drawn = null
  if (!page.send && error.status >= 400 && error.status < 500) {
    clear(page)
    return leaveEarly(page)
  }
  if (error.status === 401) {
    clear(page)
    const wait = COOKIE_MILLISECONDS[page.tries++]
    if (wait !== undefined) return void setTimeout(() => again(page), wait)
  }
  const { status = 0, message } = error instanceof Failure ? error : {}
  explain(page, message || UNREACHABLE, "head", status === 0 || status >= 500)
  tellIn(page, PAINTED_MILLISECONDS)
}

/** A failure in a sentence, with a way to try again; what was shown stays, dimmed. What may pass is tried again. */
function explain(page, sentence, part, isPassing) {
  hush(page)
  const node = page.problems[part] ?? page.problems.head
  const button = make("button", { type: "button", "data-act": "again" }, "Try again")
  node.replaceChildren(make("p", { role: "alert" }, sentence), button)
  node.hidden = false
  set(page.root, "aria-busy", "false")
  clearTimeout(page.retrying)
  const wait = RETRY_MILLISECONDS[Math.min(page.failures++, RETRY_MILLISECONDS.length - 1)]
  if (isPassing) page.retrying = setTimeout(() => whenFree(page.press, () => page.host.isConnected && again(page)), wait)
}

function unexplain(node) {
  node.hidden = true
  node.replaceChildren()
}

/** Asks once more, with what is shown still there. */
function again(page) {
  clearTimeout(page.retrying)
  page.drawn = null
  if (page.base && page.about) show(page)
}

/** What no parameter says has changed: notes, or the person's choice of leaderboards. */
function outdate(page) {
  page.store.answers.clear()
  page.drawn = null
}

/** Forgets what was of another slicer or person. */
function clear(page) {
  forget(page.store)
  page.drawn = page.wish = page.listening = page.head = null
  page.acts = []
  page.outbox = []
  page.cards.waiting = []
  page.time.head = page.time.sign = null
  page.time.picture.replaceChildren()
  for (const part of [page.heads, page.tools, page.foot]) part.replaceChildren()
  page.cards.tables.clear()
  page.cards.root.replaceChildren()
}

/** Asks at the press, or at the keyboard's focus, what a click would need. */
function askAhead(page, event) {
  if (!page.base || page.declined || page.wish) return
  const what = actAt(page, event)
  if (!what || ["again", ...LOWER].includes(what[0])) return
  const acts = [...actsOf(page), what]
  const key = keyOf(page.about, page.base, acts)
  if (find(page.store, key) || page.ahead === key) return
  page.ahead = key
  page.acts.push([page.cards.number + 1, ...what])
  const asked = partsOf(page)
  page.acts.pop()
  ask(page.store, page.about, { params: page.base, acts, ...asked }, true)
}

/** A press that became no click is given up. */
function giveUp(page) {
  const { ahead } = page
  page.ahead = null
  if (!ahead) return
  setTimeout(() => stopAhead(page.store, ahead), LEFT_MILLISECONDS)
}

/** What a click here would do. */
function actAt(page, event) {
  const control = event.target.closest("[data-act]")
  if (control) return control.getAttribute("aria-pressed") === "true" || control.dataset.act === "again" ? null : JSON.parse(control.dataset.act)
  return page.cards.root.contains(event.target) ? actOfRows(page.cards, event) : null
}
