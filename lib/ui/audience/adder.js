// A search over the slicer's key fields, that opens the card of one.

function newAdder(add) {
  const placeholder = matchMedia("(max-width: 767px)").matches ? "Card" : "Open a card"
  const input = make("input", { class: "add", type: "search", list: "keys", placeholder, "aria-label": "Open the card of a key field", maxlength: "100" })
  const list = make("datalist", { id: "keys" })
  const choose = (option) => {
    if (!option) return
    input.value = ""
    add(option.dataset.name)
  }
  const matching = (isMatch) => [...list.options].find((option) => isMatch(option.value.toLowerCase(), input.value.trim().toLowerCase()))
  input.addEventListener("input", ({ inputType }) => {
    if (!inputType || inputType === "insertReplacementText") choose(matching((title, text) => title === text)) // one of the list
  })
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && input.value.trim()) choose(matching((title, text) => title === text) ?? matching((title, text) => title.includes(text)))
  })
  return make("span", { class: "adder" }, input, list)
}

function drawAdder(adder, keys) {
  const list = adder.lastChild
  const sign = JSON.stringify(keys)
  if (list.sign === sign) return
  list.sign = sign
  list.replaceChildren(...keys.map(([name, title]) => make("option", { value: title, "data-name": name })))
}
