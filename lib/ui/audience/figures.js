// The figures: the headline, where a click on one makes it the field of the page, and what stands around the chart.

const SPARK = { width: 120, height: 24, edge: 1.5, side: 0.25 }
const SELECTS = { grain: "Granularity", trend: "Lines show", second: "Second metric, on its own axis" }
const KEY_OF_CHANGES = { "≈": "≈ within chance", green: "green: good", red: "red: bad" } // what stands on the tiles
const ARROWS = { up: "↑ ", down: "↓ " }

function drawHeadline(page, head) {
  page.heads.style.setProperty("--count", Math.max(head.figures.length, 4))
  const known = new Map([...page.heads.children].map((node) => [node.dataset.name, node]))
  const nodes = head.figures.map((figure) => known.get(figure.name) ?? newFigure(figure.name))
  inOrder(page.heads, nodes)
  head.figures.forEach((figure, place) => drawFigure(nodes[place], figure, head))
}

function newFigure(name) {
  const button = make("button", { type: "button", class: "show", "data-act": JSON.stringify(["field", name]) })
  const parts = ["label", "fig-value", "delta"].map((part) => make("span", { class: part }))
  const line = shape("path", { class: "fig-line" })
  const spark = shape("svg", { viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, preserveAspectRatio: "none", role: "img" }, line)
  return make("div", { class: "fig", "data-name": name, role: "group" }, ...parts, spark, button)
}

function drawFigure(node, figure, head) {
  const [label, value, delta, spark, button] = node.children
  text(label, figure.title)
  text(value, figure.text)
  const change = figure.coverage ? figure.delta?.replace(` (${figure.coverage})`, "*") : figure.delta // its days are said once, below
  text(delta, [`${ARROWS[figure.arrow] ?? ""}${change ?? ""}`, figure.range ?? ""].join(" ").trim())
  set(delta, "class", `delta ${figure.color ?? "gray"}`)
  set(node, "aria-label", figure.title)
  set(button, "aria-label", `Show ${figure.title}`)
  set(button, "title", figure.help || null)
  showField(node, head.field)
  const path = sparkline(head.fields[figure.name]?.now?.values ?? [], head.buckets.parts)
  set(spark, "aria-label", path ? figure.spark : null)
  set(spark, "aria-hidden", path ? null : "true")
  set(spark.firstChild, "d", path)
}

function showField(node, field) {
  set(node.querySelector(".show"), "aria-pressed", String(node.dataset.name === field))
}

/** A line per run of whole buckets. One rule for all: the middle is their mean, the height at least ± 25 % of it. */
function sparkline(line, parts) {
  const values = line.map((value, place) => (parts[place] ? null : value))
  const there = values.filter((value) => value !== null)
  if (there.length < 2) return ""
  const mean = there.reduce((sum, value) => sum + value / there.length, 0)
  const side = Math.max(SPARK.side * Math.abs(mean), ...there.map((value) => Math.abs(value - mean))) || 1
  const [low, span] = [mean - side, 2 * side]
  const { width, height, edge } = SPARK
  const x = (place) => edge + (place * (width - 2 * edge)) / (values.length - 1)
  return path(values, x, (value) => height - edge - ((value - low) / span) * (height - 2 * edge))
}

function shape(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value)
  node.append(...children)
  return node
}

/** Whether a value has none beside it: a line would not show it. */
const isAlone = (values, place) => (values[place - 1] ?? null) === null && (values[place + 1] ?? null) === null

/** The points of a line; it is broken where a value is missing, and a value alone is a dot (of round ends). */
function path(values, x, y) {
  let steps = ""
  values.forEach((value, place) => {
    if (value === null) return
    const isFirst = place === 0 || values[place - 1] === null
    steps += `${isFirst ? "M" : "L"}${x(place).toFixed(1)} ${y(value).toFixed(1)}${isAlone(values, place) ? "h0" : ""}`
  })
  return steps
}

function drawFigures(page, head) {
  const { root, tools, foot } = page
  root.classList.toggle("nothing", Boolean(head.nothing))
  root.classList.toggle("timeless", !head.grain)
  page.head = head
  if (head.nothing) return drawNothing(page, head)
  drawHeadline(page, head)
  drawTools(tools, head, page.data?.fields)
  drawChart(page.time, head)
  drawFoot(foot, head)
}

/** A field whose lines are here is drawn before its answer comes. */
function showChosenField(page, field) {
  const { head } = page
  if (!head?.fields[field]) return
  for (const node of page.heads.children) showField(node, field)
  if (!head.values.length) drawChart(page.time, { ...head, field })
}

/** Why there are no figures, and the question that leads on. */
function newMessage({ sentence, label, params }) {
  const way = make("button", { type: "button", "data-act": JSON.stringify(["go", params]) }, label ?? "")
  return make("div", { class: "message" }, make("p", { role: "status" }, sentence), ...(params ? [way] : []))
}

function drawNothing(page, { nothing }) {
  page.heads.replaceChildren(newMessage(nothing))
  page.time.sign = page.time.head = null
  page.time.lines = []
  for (const part of [page.tools, page.foot, page.time.picture]) part.replaceChildren()
}

function drawTools(tools, head, fields) {
  if (!tools.children.length) {
    const selects = Object.entries(SELECTS).map(([name, label]) => make("select", { name, "aria-label": label, title: label }))
    tools.append(...selects, make("button", { type: "button", class: "zoom", "data-act": '["zoom_out"]' }, "Zoom out"))
  }
  const [grain, trend, second, zoom] = tools.children
  const names = fields ?? Object.entries(head.fields).map(([name, field]) => [name, field.title])
  drawSelect(trend, head.trends, head.trend)
  drawSelect(second, [["", "No second metric"], ...names], head.second?.name ?? "")
  drawSelect(grain, head.grains.map((name) => [name, `By ${name}`]), head.grain)
  const focused = tools.getRootNode().activeElement // stays in sight: the keyboard is there
  grain.hidden = !head.grains.length
  trend.hidden = head.trend === head.trends[0]?.[0] && trend !== focused // what is not usual is in sight, the rest in More
  second.hidden = !head.second && second !== focused
  zoom.hidden = !head.is_zoomed
}

function drawSelect(select, options, value) {
  const sign = JSON.stringify(options)
  if (select.sign !== sign) select.replaceChildren(...options.map(([value, label]) => make("option", { value }, label)))
  select.sign = sign
  select.value = value
}

/** Notes on the figures, and how precise they are: a button where a click can change that. */
function drawFoot(foot, { engine, field, fields, figures, other_precision: other }) {
  const { notes, precision } = fields[field]
  const act = other && JSON.stringify(["read", other.limit])
  if (!foot.children.length || Boolean(act) !== foot.lastChild.matches("button")) {
    const how = act ? make("button", { type: "button", class: "precision" }) : make("span", { class: "precision" })
    foot.replaceChildren(make("span", { class: "notes" }), make("span", { class: "colors" }), make("span", { class: "engine" }), how)
  }
  const [said, colors, source, how] = foot.children
  const signs = Object.keys(KEY_OF_CHANGES).filter((sign) => figures.some(({ color, delta }) => color === sign || delta?.startsWith(sign)))
  text(colors, signs.length ? `Change: ${signs.map((sign) => KEY_OF_CHANGES[sign]).join(", ")}` : "")
  text(source, engine)
  const coverages = new Set(figures.map(({ coverage }) => coverage).filter(Boolean))
  const sentence = [...[...coverages].map((days) => `* ${days}.`), ...notes].join(" ")
  text(said, sentence)
  set(said, "title", sentence)
  text(how, precision)
  set(how, "data-act", act)
  set(how, "title", other?.help ?? null)
}
