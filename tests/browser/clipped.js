// The texts in sight that are cut off, as [text, what cuts it]: by the edge of an element that can't be scrolled, or
// of the window. The head of a name whose end is whole is none of them, nor what a reader is told by a tooltip.
() => {
  const APART = [".about", "[aria-hidden=true]", ".stMultiSelectTagsContainer", "[data-testid=stCode]", ".js-plotly-plot"]
  const pen = document.createElement("canvas").getContext("2d")
  const cut = []
  const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null
  const above = (node) => (node ? [node, ...above(parentOf(node))] : [])
  const nameOf = (node) => above(node).map((one) => [...one.classList].find((name) => name.startsWith("st-key-"))).find(Boolean) ?? node.tagName
  const isApart = (node) => {
    const style = getComputedStyle(node)
    return style.visibility === "hidden" || style.opacity === "0" || style.clipPath !== "none" || APART.some((one) => node.matches(one))
  }
  const isHead = (node) => node.parentElement?.matches(".cut, .name") && node.nextElementSibling !== null
  const check = (node, text, box) => {
    if (isHead(node)) return
    const all = above(node)
    if (all.some(isApart)) return
    for (const one of all) {
      const { overflowX } = getComputedStyle(one)
      const edge = one.getBoundingClientRect()
      if (["auto", "scroll"].includes(overflowX) && one.scrollWidth > one.clientWidth) return
      if (["hidden", "clip"].includes(overflowX) && edge.width > 2 && (box.right > edge.right + 1.5 || box.left < edge.left - 1.5)) return void cut.push([text, nameOf(one)])
    }
    if (box.right > innerWidth + 1 || box.left < -1) cut.push([text, "the window"])
  }
  const checkField = (node) => {
    const text = node.tagName === "SELECT" ? node.selectedOptions[0]?.text : node.value || node.placeholder
    if (!text || ["checkbox", "radio"].includes(node.type) || node.offsetWidth < 3 || above(node).some(isApart)) return
    const style = getComputedStyle(node)
    pen.font = style.font
    const room = node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - (node.tagName === "SELECT" ? 14 : 0)
    if (pen.measureText(text).width > room + 1.5) cut.push([text, nameOf(node)])
  }
  const walk = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) walk(node.shadowRoot)
      if (["SCRIPT", "STYLE", "OPTION"].includes(node.tagName) || !node.checkVisibility()) continue
      if (["INPUT", "SELECT"].includes(node.tagName)) checkField(node)
      else for (const part of node.childNodes) {
        if (part.nodeType !== Node.TEXT_NODE || !part.data.trim()) continue
        const range = document.createRange()
        range.selectNodeContents(part)
        const box = range.getBoundingClientRect()
        if (box.width > 2) check(node, part.data.trim(), box)
      }
    }
  }
  walk(document)
  return cut
}
