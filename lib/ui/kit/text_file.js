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
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer())
    send({ name: file.name, text })
  } catch (error) {
    send({ name: file.name, problem: error instanceof TypeError ? "encoding" : "reading" })
  }
}
