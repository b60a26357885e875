// The answers that this tab has, by what was asked. None is older than two minutes, of another day, or of other data.

const KEPT_MILLISECONDS = 120000
const MOST_ANSWERS = 200
const ASIDE_PARAMS = ["split", "order", "chart", "top", "folds", "explore", "moved", "lower"] // no figure of the board depends on them

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
  if (store.edition !== null && store.edition !== whole.edition) store.answers.clear()
  store.edition = whole.edition
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
 * One request at a time: others are given up, and the server stops working on them.
 */
function ask(store, about, { params, acts, parts, base }, priority = "high") {
  const key = keyOf(about, params, acts)
  const same = store.underway.get(key)
  if (same) return same
  for (const other of [...store.underway.values()]) other.control.abort()
  const request = { key, control: new AbortController(), parts: [], listeners: new Set() }
  store.underway.set(key, request)
  const body = JSON.stringify({ ...about, params, acts, parts })
  request.promise = collect(request, body, priority).then(
    () => {
      const whole = Object.assign({}, base, ...request.parts)
      if (!request.failed) put(store, [key, keyOf(about, whole.params)], whole)
      store.underway.delete(key)
      return whole
    },
    (error) => {
      if (store.underway.get(key) === request) store.underway.delete(key)
      throw error
    },
  )
  request.promise.catch(() => {})
  return request
}

async function collect(request, body, priority) {
  for await (const part of parts(await response(request, body, priority))) {
    if (part.error) request.failed = true
    request.parts.push(part)
    for (const listener of request.listeners) listener(part)
  }
}

/** What was asked in the document's head is asked once. */
async function response(request, body, priority) {
  const early = globalThis.trancheEarly
  globalThis.trancheEarly = null
  if (early?.body === body) return accept(await early.response)
  const address = new URL("board/answer", globalThis.trancheServer)
  const headers = { "Content-Type": "application/json" }
  return accept(await fetch(address, { method: "POST", headers, body, priority, signal: request.control.signal }))
}

async function accept(response) {
  if (response.ok) return response
  const problem = await response.json().catch(() => ({}))
  throw new Failure(response.status, problem.detail ?? problem.title ?? problem.error ?? "")
}

/** The lines of an answer, each as it comes. */
async function* parts(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const lines = (text + value).split("\n")
    text = lines.pop()
    for (const line of lines) if (line.trim()) yield JSON.parse(line)
  }
}
