// Reads a chosen text file in the browser and sends its text once; nothing is uploaded over HTTP.

const rooms = new WeakMap()

export default function ({ parentElement, data, setTriggerValue }) {
  const input = parentElement.querySelector("input")
  parentElement.querySelector("label span").textContent = data.label
  input.accept = data.accept
  rooms.set(input, { most: data.most, send: (file) => setTriggerValue("file", file) })
  if (input.dataset.ready) return
  input.dataset.ready = "1"
  input.addEventListener("change", () => read(input))
}

async function read(input) {
  const [file] = input.files
  if (!file) return
  const { most, send } = rooms.get(input)
  input.value = ""
  if (file.size > most) return send({ name: file.name, problem: "size" })
  try {
    send({ name: file.name, ...decode(new Uint8Array(await file.arrayBuffer())) })
  } catch (error) {
    send({ name: file.name, problem: error instanceof TypeError ? "encoding" : "reading" })
  }
}

// UTF-8, or UTF-16 as its first bytes say, else what spreadsheets of Windows write: every byte has a character there.
function decode(bytes) {
  const mark = bytes[0] * 256 + bytes[1]
  if (mark === 0xfffe || mark === 0xfeff) {
    const encoding = mark === 0xfffe ? "utf-16le" : "utf-16be"
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), encoding: "UTF-16" }
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), encoding: "" }
  } catch {
    if (bytes.includes(0)) throw new TypeError("not a text")
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "Windows-1252" }
  }
}
