// What tables (rows.js) and lists (listing.js) have in common: nodes that change in place, and acts.

function make(name, attributes = {}, ...children) {
  const node = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value)
  node.append(...children)
  return node
}

function set(node, name, value) {
  if (value === null || value === "") node.removeAttribute(name)
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value)
}

function text(node, value) {
  if (node.textContent !== value) node.textContent = value
}

function inOrder(parent, nodes) {
  const wanted = new Set(nodes)
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove()
  let next = parent.firstElementChild
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling
    else parent.insertBefore(node, next)
  }
}

/** An act shows at once, and is sent with those before it until the server has taken it. */
function act(panel, ...what) {
  panel.waiting.push([++panel.number, ...what])
  panel.send(panel.waiting)
  showWaiting(panel)
}

/** Forgets the acts that the server has taken. */
function forgetTaken(panel, [by, last]) {
  if (by === panel.by) panel.waiting = panel.waiting.filter(([number]) => number > last)
}
