// The route beside Streamlit's from which figures come without a run of the page (overview_route.py).

function post(body, signal, priority = "high") {
  const address = new URL("overview/answer", globalThis.trancheServer)
  const headers = { "Content-Type": "application/json" }
  return fetch(address, { method: "POST", headers, body, priority, signal })
}

/** The lines of an answer, each as it comes. */
async function* linesOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const lines = (text + value).split("\n")
    text = lines.pop()
    for (const line of lines) if (line) yield JSON.parse(line)
  }
}
