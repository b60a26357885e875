// Sends each request for a cookie once, one after the other: a sign-in after a sign-out must come second.
const state = (window.trancheCookieRequests ??= { sent: new Set(), last: Promise.resolve() })
const ATTEMPTS = 3
const PAUSE_MILLISECONDS = 1000

export default function ({ data }) {
  if (!data || state.sent.has(data.number)) return
  state.sent.add(data.number)
  state.last = state.last.then(() => send(data))
}

async function send({ path, code }) {
  const address = new URL(`.${path}`, window.trancheServer)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      const response = await fetch(address, { method: "POST", body: code, keepalive: true }) // also if the page is left
      const location = response.status === 200 ? (await response.json()).location : null
      if (location) window.location.assign(location)
      return
    } catch {
      await new Promise((done) => setTimeout(done, PAUSE_MILLISECONDS))
    }
  }
}
