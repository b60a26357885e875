// Shows the values of the chart under the pointer, and sorts tables by a click on a title.
const make = (name, text = "", parent = null) => {
  const node = document.createElement(name)
  node.textContent = text
  parent?.append(node)
  return node
}

const enlivenChart = (section) => {
  const points = JSON.parse(section.querySelector(".points").textContent)
  for (const drawing of section.querySelectorAll(".drawing")) {
    const x = points.places[drawing.dataset.drawing]
    const [tip, rule] = [make("div", "", drawing), make("div", "", drawing)]
    tip.className = "tip"
    rule.className = "rule"
    const hide = () => (tip.hidden = rule.hidden = true)
    hide()
    drawing.addEventListener("pointerleave", hide)
    drawing.addEventListener("pointermove", (event) => {
      const frame = drawing.getBoundingClientRect()
      const scale = frame.width / drawing.querySelector("svg").viewBox.baseVal.width
      const at = (event.clientX - frame.left) / scale
      const place = x.reduce((best, one, other) => (Math.abs(one - at) < Math.abs(x[best] - at) ? other : best), 0)
      tip.hidden = rule.hidden = false
      rule.style.left = `${x[place] * scale}px`
      const isRight = x[place] * scale > frame.width / 2
      tip.style.left = isRight ? "auto" : `${x[place] * scale + 10}px`
      tip.style.right = isRight ? `${frame.width - x[place] * scale + 10}px` : "auto"
      tip.replaceChildren(make("b", points.names[place]))
      for (const { label, color, texts, names } of points.lines) {
        if (texts[place] === undefined) continue
        const line = make("div", "", tip)
        make("i", "", line).style.background = color
        line.append(`${label}: `, make("b", texts[place]), names[place] ? ` (${names[place]})` : "")
      }
    })
  }
}

const numeric = new Intl.Collator(undefined, { numeric: true })
const compare = (one, other) => {
  const [mine, theirs] = [one.dataset.order, other.dataset.order]
  if (mine !== undefined && theirs !== undefined) return Number(mine) - Number(theirs)
  if (mine !== theirs) return mine === undefined ? -1 : 1
  return numeric.compare(one.textContent, other.textContent)
}

const enlivenTable = (table) => {
  const body = table.tBodies[0]
  const movable = () => [...body.rows].filter((row) => !row.className)
  for (const [place, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = make("button", head.textContent)
    button.type = "button"
    head.replaceChildren(button)
    button.addEventListener("click", () => {
      const usual = head.classList.contains("key") ? "ascending" : "descending"
      const other = usual === "ascending" ? "descending" : "ascending"
      const direction = head.getAttribute("aria-sort") === usual ? other : usual
      for (const one of table.querySelectorAll("th")) one.removeAttribute("aria-sort")
      head.setAttribute("aria-sort", direction)
      const sign = direction === "ascending" ? 1 : -1
      const rows = movable().sort((one, another) => sign * compare(one.cells[place], another.cells[place]))
      const end = [...body.rows].find((row) => row.className === "rest") ?? null
      for (const row of rows) body.insertBefore(row, end)
    })
  }
}

const enliven = (root) => {
  root.querySelectorAll(".chart").forEach(enlivenChart)
  root.querySelectorAll("table:not(form table)").forEach(enlivenTable)
}
