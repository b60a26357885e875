// A cell of a board: what the server made of it, set once, with the script of snapshots. `enliven` is theirs.
const drawn = new WeakMap()

export default function ({ parentElement, data }) {
  const place = parentElement.querySelector(".place")
  if (drawn.get(place) === data.html) return
  drawn.set(place, data.html)
  place.innerHTML = data.html // made by Jinja, which escapes texts
  enliven(place)
}
