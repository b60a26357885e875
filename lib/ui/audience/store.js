// The answers that this tab has, by what was asked. None is older than two minutes, of another day, or of other data.

const KEPT_MILLISECONDS = 120000
const MOST_ANSWERS = 200
const ASIDE_PARAMS = ["split", "order", "chart", "top", "folds", "cross", "explore", "moved", "lower", "across"] // no figure of the overview depends on them

class Failure extends Error {
  constructor(status, sentence) {
    super(sentence)
    this.status = status
  }
}

function newStore() {
  return { answers: new Map(), underway: new Map(), edition: null }
}

/** A question as one text: the slicer, the link's parameters, and the acts after them. */
function keyOf(about, params, acts = []) {
  const asked = Object.entries(params).filter(([name]) => !ASIDE_PARAMS.includes(name))
  return JSON.stringify([about.project, about.slicer, asked.sort(), acts])
}

function find(store, key) {
  const entry = store.answers.get(key)
  if (!entry) return null
  if (performance.now() - entry.since <= KEPT_MILLISECONDS) return entry.whole
  store.answers.delete(key)
  return null
}

/** Puts a whole answer by, under what was asked and under the parameters that came with it. */
function put(store, keys, whole) {
  const edition = `${whole.version} ${whole.day}`
  if (store.edition !== null && store.edition !== edition) store.answers.clear()
  store.edition = edition
  for (const key of keys) {
    store.answers.delete(key)
    store.answers.set(key, { whole, since: performance.now() })
  }
  while (store.answers.size > MOST_ANSWERS) store.answers.delete(store.answers.keys().next().value)
}

/** All of another person, or of nobody: stop what is under way and forget what came. */
function forget(store) {
  for (const request of [...store.underway.values()]) request.control.abort()
  store.answers.clear()
  store.underway.clear()
  store.edition = null
}

/** Asks for the question `params` after `acts`; parts that are not asked for are those of `base`.
 *
 * A click's request takes the place of all others, and the server stops working on them. One ahead of a click
 * takes the place of those ahead that no click awaits; it may be declined, and has no second round of exact figures.
 */
function ask(store, about, { params, acts, parts, base }, ahead = false) {
  const key = keyOf(about, params, acts)
  const same = store.underway.get(key)
  if (same) return same
  for (const other of [...store.underway.keys()]) ahead ? stopAhead(store, other) : store.underway.get(other).control.abort()
  const request = { key, ahead, wanted: parts, whole: { ...base }, lines: [], control: new AbortController(), listeners: new Set() }
  store.underway.set(key, request)
  const body = JSON.stringify({ ...about, params, acts, parts, locale: navigator.language, ...(ahead ? { ahead } : {}) })
  const gone = () => store.underway.get(key) === request && store.underway.delete(key)
  request.promise = collect(request, body).then(
    () => {
      gone()
      if (!request.failed) put(store, [key, keyOf(about, request.whole.params)], { ...request.whole, ahead })
    },
    (error) => {
      gone()
      throw error
    },
  )
  request.promise.catch(() => {})
  return request
}

/** Stops a request ahead of a click that never came. */
function stopAhead(store, key) {
  const request = store.underway.get(key)
  if (request?.ahead && !request.listeners.size) request.control.abort()
}

async function collect(request, body) {
  let isWhole = false
  for await (const line of linesOf(await response(request, body))) {
    if (line.part === "wait") request.wait = line
    else if (line.error) request.failed = true
    else if (line.part !== "end") Object.assign(request.whole, { ...line, [line.part]: line[line.part] })
    if (line.part === "end") isWhole = true
    if (line.part === "wait" || (line.part === "end" && !line.error)) continue
    request.lines.push(line)
    for (const listener of [...request.listeners]) listener(line)
  }
  if (!isWhole) throw new Failure(0, "")
}

/** What was asked in the document's head is asked once, and can be given up like any other. */
async function response(request, body) {
  const early = globalThis.trancheEarly
  globalThis.trancheEarly = null
  if (early?.body === body) {
    request.control = early.control
    return accept(await early.response)
  }
  early?.control.abort()
  return accept(await post(body, request.control.signal, request.ahead ? "auto" : "high"))
}

async function accept(response) {
  if (response.status === 200) return response
  const problem = await response.json().catch(() => ({}))
  throw new Failure(response.status, typeof problem.detail === "string" ? problem.detail : "")
}
