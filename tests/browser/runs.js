// When a page's script runs, told by its socket: from a click's sending on. Streamlit's own mark in the page
// says it only once the desk has answered, and nothing before the client has connected.

const RERUN = 11 // fields of streamlit/proto/BackMsg.proto and ForwardMsg.proto
const BEGINS = 4
const ENDS = 6

const runs = (window.trancheRuns = { isAsked: true, isOn: false })
const heard = new WeakSet()
const send = WebSocket.prototype.send

WebSocket.prototype.send = function (data) {
  if (!heard.has(this)) this.addEventListener("message", ({ data }) => data instanceof ArrayBuffer && hear(fieldOf(new Uint8Array(data))))
  heard.add(this)
  if (data instanceof Uint8Array && data[0] >> 3 === RERUN) Object.assign(runs, { isAsked: true, still: 0 })
  return send.call(this, data)
}

function hear(field) {
  if (field === BEGINS) Object.assign(runs, { isAsked: false, isOn: true, still: 0 })
  if (field === ENDS) runs.isOn = false
}

/** What a message is, behind its hash and metadata: the number of its field. */
function fieldOf(bytes) {
  for (let at = 0; at < bytes.length; ) {
    const field = bytes[at++] >> 3
    if (field > 2) return field
    let size = 0
    for (let shift = 0; ; shift += 7) {
      size |= (bytes[at] & 127) << shift
      if (bytes[at++] < 128) break
    }
    at += size
  }
}
