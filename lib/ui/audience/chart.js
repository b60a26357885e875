// The field over time, drawn by hand: lines, what they are compared with, ranges, notes; a brush that zooms.

const ROOM = { left: 56, right: 104, top: 14, bottom: 26 }
const VALUES_ROOM = 156
const AXIS_ROOM = 44
const [NARROW, NARROW_ROOM, NARROW_LETTERS] = [480, 84, 10]
let chartHeight = 200 // that of its place (style.css)
const MOST_POINTS = 45
const LABEL_APART = 14
const LABEL_LETTERS = 20
const MOST_NOTES = 4
const ROOM_OF_A_TICK = 84
const ACCENT = "var(--line-color)"
const GRAY = "var(--quiet)"
const PICTURE_SCALE = 2
const DRAWN_STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family"]

function newChart(page) {
  const root = page.chart
  const tip = make("div", { class: "tip", role: "status" })
  const brush = make("div", { class: "brush" })
  const days = make("div", { class: "days" })
  const picture = make("div", { class: "picture" })
  for (const part of [tip, brush, days]) part.hidden = true
  root.append(picture, brush, days, tip)
  const chart = { root, picture, tip, brush, days, at: null, from: null }
  root.addEventListener("pointerdown", (event) => begin(chart, event))
  root.addEventListener("pointermove", (event) => move(chart, event))
  root.addEventListener("pointerup", (event) => end(page, chart, event))
  root.addEventListener("pointercancel", () => leaveChart(chart))
  root.addEventListener("pointerleave", () => chart.from === null && leaveChart(chart))
  root.addEventListener("dblclick", (event) => chart.lines?.length && showRecords(page, chart, nearest(chart, event)))
  root.addEventListener("keydown", (event) => onChartKey(page, chart, event))
  root.addEventListener("blur", () => leaveChart(chart))
  new ResizeObserver(() => chart.head && drawChart(chart, chart.head)).observe(root)
  return chart
}

/** Draws the chart of an answer's head; what is already drawn so is left alone. */
function drawChart(chart, head) {
  chart.head = head
  const width = chart.root.clientWidth
  chartHeight = chart.root.clientHeight || chartHeight
  const sign = JSON.stringify([chartHeight, head.field, head.buckets, head.fields[head.field], head.values, head.second, head.date_notes, width])
  if (chart.sign === sign) return
  chart.sign = sign
  leaveChart(chart)
  chart.lines = courses(head)
  const alt = head.fields[head.field]?.alt
  set(chart.root, "aria-label", alt ? alt + head.alt_end : null)
  const nothing = !head.values.length && head.fields[head.field]?.nothing
  set(chart.root, "role", nothing ? "group" : "img")
  set(chart.root, "tabindex", nothing ? null : "0")
  if (nothing) {
    chart.lines = []
    return chart.picture.replaceChildren(newMessage(nothing))
  }
  if (!chart.lines.length || width === 0) return chart.picture.replaceChildren()
  chart.scale = scales(chart.lines, head, width)
  const { scale } = chart
  const marks = [...grid(scale), ...secondAxis(scale), ...ticks(scale, head.buckets), ...noted(scale, head.date_notes)]
  const drawn = chart.lines.flatMap((line) => drawCourse(line.isBeside ? scale.second : scale, line))
  const node = shape("svg", { width, height: chartHeight, "aria-hidden": "true" })
  node.append(...marks, ...drawn, ...labels(scale, chart.lines))
  chart.picture.replaceChildren(node)
}

/** The lines of an answer, from the back to the front: of values, or of the period and the one compared. */
function courses({ values, fields, field, buckets, buckets_before, period, before, second }) {
  const [parts, none] = [buckets.parts, []]
  const beside = second ? [{ ...second, parts, isBeside: true }] : none
  if (values.length) {
    const there = values.flatMap(({ label, color, now, before: earlier }) => [
      ...(earlier ? [{ ...earlier, label: `${label}, before`, color, isDotted: true, parts: none, isUnnamed: true }] : none),
      { ...now, label, color, parts },
    ])
    return [...beside, ...there]
  }
  const there = fields[field]?.drawn ?? fields[field]
  if (!there?.now) return none
  const front = { ...there.now, label: period.label, color: ACCENT, parts }
  const earlier = there.before.map((line, place) => ({
    ...line, label: before[place]?.label ?? "", color: GRAY, isDotted: true, isSecond: place > 0, parts: none, names: buckets_before[place]?.names,
  }))
  return [...beside, ...earlier.reverse(), front]
}

function scales(lines, head, width) {
  const names = width < NARROW ? NARROW_ROOM : head.values.length ? VALUES_ROOM : ROOM.right
  const right = names + (head.second ? AXIS_ROOM : 0)
  const starts = head.buckets.starts.map((start) => Date.parse(`${start}Z`))
  const [first, last] = [starts[0], starts.at(-1)]
  const inside = width - ROOM.left - right - 16
  const x = (place) => ROOM.left + 8 + (last === first ? inside / 2 : ((starts[place] - first) / (last - first)) * inside)
  const foot = chartHeight - ROOM.bottom
  const common = { x, starts, width, right: width - right, foot }
  const own = upward(lines.filter((line) => !line.isBeside), head.fields[head.field].has_zero, starts.length)
  const second = head.second && { ...common, ...upward(lines.filter((line) => line.isBeside), head.second.has_zero, starts.length) }
  return { ...common, ...own, second }
}

/** The vertical scale of lines, and its steps. */
function upward(lines, hasZero, count) {
  const all = lines.flatMap((line) => [...line.values.slice(0, count), ...(line.low ?? []), ...(line.high ?? [])])
  const there = all.filter((value) => value !== null)
  const steps = niceSteps(Math.min(...there), Math.max(...there), hasZero)
  const [low, high] = [steps[0], steps.at(-1)]
  const room = chartHeight - ROOM.top - ROOM.bottom
  return { steps, y: (value) => chartHeight - ROOM.bottom - ((value - low) / (high - low || 1)) * room }
}

/** The numbers of the second metric, at the right edge. */
function secondAxis({ second, width }) {
  return (second?.steps ?? []).map((value) => words(axisText(value), width - 2, second.y(value) + 4, "end"))
}

/** Four to six round values around those there; from zero where values add up. */
function niceSteps(least, most, fromZero) {
  if (!Number.isFinite(least) || !Number.isFinite(most)) [least, most] = [0, 1]
  if (fromZero) [least, most] = [Math.min(least, 0), Math.max(most, 0)]
  if (least === most) [least, most] = least ? [Math.min(0, least), Math.max(0, most)] : [0, 1]
  const size = 10 ** Math.floor(Math.log10(most - least))
  const step = [0.1, 0.2, 0.25, 0.5, 1, 2].map((one) => one * size).find((one) => (most - least) / one <= 5)
  const [from, to] = [Math.floor(least / step + 1e-9), Math.ceil(most / step - 1e-9)]
  return Array.from({ length: to - from + 1 }, (_, place) => (from + place) * step)
}

/** The language in which numbers are written: the one that the reader chose (reader.py), or else the browser's. */
const readerLanguage = () => /(?:^|; )numbers=([\w-]+)/.exec(document.cookie)?.[1] ?? navigator.language
const axisNumber = new Intl.NumberFormat(readerLanguage(), { maximumSignificantDigits: 4 })
const UNITS = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"], [0, ""]] // figures/numbers.py
const axisDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })
const wholeDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })

function axisText(value) {
  const [size, letter] = UNITS.find(([size]) => Math.abs(value) >= size)
  return axisNumber.format(value / (size || 1)) + letter
}

function grid({ steps, y, right }) {
  return steps.flatMap((value) => [
    shape("line", { class: "grid", x1: ROOM.left, x2: right, y1: y(value), y2: y(value) }),
    words(axisText(value), ROOM.left - 6, y(value) + 4, "end"),
  ])
}

function words(what, x, y, anchor = "start") {
  return shape("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, what)
}

function ticks({ x, foot, right, starts }, { ticks }) {
  const most = Math.max(2, Math.floor((right - ROOM.left) / ROOM_OF_A_TICK))
  const days = starts.flatMap((start, place) => (start % 86400000 ? [] : [place]))
  const places = days.length > 2 ? days : starts.map((_, place) => place)
  const least = Math.ceil(places.length / most)
  // Of the hours of a day or two, each midnight has a tick, which is its date.
  const every = days.length < starts.length && days.length <= 2 ? [1, 2, 3, 4, 6, 8, 12, 24].find((hours) => hours >= least) ?? 24 : least
  return places.filter((_, at) => at % every === 0).map((place) => words(ticks[place], x(place), foot + 18, "middle"))
}

function noted({ x, foot }, notes) {
  return [...new Set(notes.map((note) => note.place))].filter((place) => place >= 0).flatMap((place) => [
    shape("line", { class: "note", x1: x(place), x2: x(place), y1: ROOM.top - 4, y2: foot }),
    shape("path", { class: "noted", d: `M${x(place) - 5} ${ROOM.top - 13}h10l-5 9Z` }),
  ])
}

function drawCourse({ x, y, starts }, line) {
  const values = line.values.slice(0, starts.length)
  const isWhole = (place) => line.isDotted || !line.parts[place]
  const whole = values.map((value, place) => (isWhole(place) ? value : null))
  const style = `color: ${line.color}`
  const drawn = [shape("path", { class: `course${line.isDotted ? " dotted" : ""}${line.isSecond ? " second" : ""}`, style, d: path(whole, x, y) })]
  if (line.low?.some((low, place) => line.high[place] > low)) drawn.unshift(band(x, y, line))
  if (!values.every((_, place) => isWhole(place))) {
    const beside = values.map((value, place) => (isWhole(place) && (place === 0 || isWhole(place - 1)) && (place + 1 >= values.length || isWhole(place + 1)) ? null : value))
    drawn.unshift(shape("path", { class: "course part", style, d: path(beside, x, y) }))
  }
  const hasPoints = values.length <= MOST_POINTS && !line.isDotted
  values.forEach((value, place) => {
    if (value !== null && (hasPoints || isAlone(values, place))) drawn.push(shape("circle", { class: isWhole(place) ? "point" : "point hollow", style, cx: x(place).toFixed(1), cy: y(value).toFixed(1), r: isWhole(place) ? 2.5 : 3.5 }))
  })
  return drawn
}

function band(x, y, { low, high }) {
  const back = low.map((value, place) => (value === null ? "" : `L${x(place).toFixed(1)} ${y(value).toFixed(1)}`)).reverse()
  const there = high.map((value, place) => (low[place] === null ? null : value))
  return shape("path", { class: "band", d: `${path(there, x, y)}${back.join("")}Z` })
}

/** The names at the lines' right ends, one below the other where ends are close. */
function labels(scale, lines) {
  const { x, foot, starts } = scale
  const ends = lines.filter((line) => !line.isUnnamed).flatMap((line) => {
    const place = line.values.slice(0, starts.length).findLastIndex((value) => value !== null)
    const { y } = line.isBeside ? scale.second : scale
    return place < 0 ? [] : [{ line, x: x(starts.length - 1) + 8, y: y(line.values[place]) + 4 }] // past all lines, however early one ends
  })
  ends.sort((one, other) => other.y - one.y)
  let below = foot + LABEL_APART
  return ends.map(({ line, x: left, y: at }) => {
    below = Math.min(at, below - LABEL_APART)
    const most = scale.width < NARROW ? NARROW_LETTERS : LABEL_LETTERS
    const name = line.label.length > most ? `${line.label.slice(0, most - 1)}…` : line.label
    const dot = shape("tspan", { style: `fill: ${line.color}` }, "● ")
    return shape("text", { x: left.toFixed(1), y: below.toFixed(1) }, dot, name)
  })
}

/** The bucket whose time is nearest to this place on the screen. */
function nearest({ root, scale }, event) {
  const left = event.clientX - root.getBoundingClientRect().left
  let best = 0
  for (let place = 1; place < scale.starts.length; place++) if (Math.abs(scale.x(place) - left) < Math.abs(scale.x(best) - left)) best = place
  return best
}

function begin(chart, event) {
  if (event.button !== 0 || event.pointerType === "touch" || !chart.lines?.length) return
  chart.from = nearest(chart, event)
  chart.root.setPointerCapture(event.pointerId)
}

function move(chart, event) {
  if (!chart.lines?.length) return
  point(chart, nearest(chart, event))
}

/** Shows the values at a bucket, and the range that is brushed up to there. */
function point(chart, place) {
  chart.at = place
  const { root, tip, brush, days, scale, head, lines, from } = chart
  const isBrush = from !== null && from !== place
  const [first, last] = from === null ? [place, place] : [Math.min(from, place), Math.max(from, place)]
  brush.hidden = false
  brush.classList.toggle("wide", isBrush)
  brush.style.left = `${scale.x(first)}px`
  brush.style.width = `${scale.x(last) - scale.x(first)}px`
  days.hidden = !isBrush
  if (isBrush) {
    text(days, span(head, first, last))
    days.style.left = `${(scale.x(first) + scale.x(last)) / 2}px`
  }
  tip.hidden = isBrush
  if (isBrush) return
  tip.replaceChildren(...tipLines(head, lines, place))
  const isRight = scale.x(place) > root.clientWidth / 2
  tip.style.left = isRight ? "auto" : `${scale.x(place) + 12}px`
  tip.style.right = isRight ? `${root.clientWidth - scale.x(place) + 12}px` : "auto"
}

function tipLines(head, lines, place) {
  const { names, parts } = head.buckets
  const title = make("div", { class: "when" }, parts[place] ? `${names[place]} (${parts[place]})` : names[place])
  const values = [...lines].reverse().flatMap((line) => {
    if (line.values[place] === null || line.values[place] === undefined) return []
    const dot = make("span", { class: "dot" })
    dot.style.background = line.color
    const when = line.names?.[place] ? ` (${line.names[place]})` : ""
    return [make("div", {}, dot, `${line.label}: `, make("b", {}, line.texts[place]), when)]
  })
  const notes = head.date_notes.filter((note) => note.place === place)
  const more = notes.length > MOST_NOTES ? [make("div", {}, `and ${notes.length - MOST_NOTES} more`)] : []
  const hint = make("div", { class: "said" }, "Double-click: its rows")
  return [title, ...values, ...notes.slice(0, MOST_NOTES).map((note) => make("div", { class: "said" }, `${axisDay.format(Date.parse(note.day))}: ${note.text}`)), ...more, hint]
}

/** The days of the buckets from one to another, as the link has them. */
function daysOf(head, first, last) {
  const { starts } = head.buckets
  const [from, next] = [starts[first].slice(0, 10), starts[last + 1]]
  const to = next ? new Date(Date.parse(`${next}Z`) - 1000).toISOString().slice(0, 10) : head.period.last
  return [from < head.period.first ? head.period.first : from, to]
}

function span(head, first, last) {
  const [from, to] = daysOf(head, first, last).map((day) => wholeDay.format(Date.parse(`${day}T00:00:00Z`)))
  return from === to ? from : `${from} – ${to}`
}

function end(page, chart, event) {
  if (chart.from === null) return
  const [from, to] = [chart.from, nearest(chart, event)]
  leaveChart(chart)
  if (from !== to) zoom(page, chart, Math.min(from, to), Math.max(from, to))
}

function zoom(page, chart, first, last) {
  if (first > 0 || last < chart.scale.starts.length - 1) act(page.cards, "zoom", ...daysOf(chart.head, first, last))
}

/** The rows of a bucket. */
function showRecords(page, chart, place) {
  const { grain, buckets } = chart.head
  act(page.cards, "records", "chart", [[`granularity_${grain}`, buckets.starts[place]]])
}

function leaveChart(chart) {
  chart.at = chart.from = null
  for (const part of [chart.tip, chart.brush, chart.days]) part.hidden = true
}

/** Arrows go along the values, with Shift they choose a range; Enter zooms to it, or shows the rows of a point. */
function onChartKey(page, chart, event) {
  if (!chart.lines?.length) return
  const last = chart.scale.starts.length - 1
  const at = chart.at ?? (event.key === "ArrowLeft" ? last + 1 : -1)
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key]
  if (event.key === "Enter" && chart.from !== null && chart.from !== chart.at) {
    const [first, end] = [Math.min(chart.from, chart.at), Math.max(chart.from, chart.at)]
    leaveChart(chart)
    zoom(page, chart, first, end)
  } else if (event.key === "Enter" && chart.at !== null) showRecords(page, chart, chart.at)
  else if (event.key === "Escape") leaveChart(chart)
  else if (to !== undefined) {
    chart.from = event.shiftKey ? (chart.from ?? Math.max(0, Math.min(last, at))) : null
    point(chart, Math.max(0, Math.min(last, to)))
  } else return
  event.preventDefault()
}

/** Saves the chart as a PNG: a picture has no styles of the page, so each shape gets its own. */
async function savePicture({ picture, root }, file) {
  const drawing = picture.querySelector("svg")
  const copy = drawing.cloneNode(true)
  const shapes = [...drawing.querySelectorAll("*")]
  ;[...copy.querySelectorAll("*")].forEach((node, place) => {
    const look = getComputedStyle(shapes[place])
    for (const name of DRAWN_STYLES) node.style.setProperty(name, look.getPropertyValue(name))
  })
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg")
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`
  await image.decode()
  const canvas = make("canvas", { width: root.clientWidth * PICTURE_SCALE, height: chartHeight * PICTURE_SCALE })
  const context = canvas.getContext("2d")
  context.scale(PICTURE_SCALE, PICTURE_SCALE)
  context.fillStyle = getComputedStyle(document.querySelector("[data-testid=stApp]") ?? document.body).backgroundColor
  context.fillRect(0, 0, root.clientWidth, chartHeight)
  context.drawImage(image, 0, 0)
  make("a", { href: canvas.toDataURL("image/png"), download: `${file}.png` }).click()
}
