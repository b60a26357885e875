// The component of tables alone; what draws them is rows.js.

const boards = new WeakMap()

export default function ({ parentElement, data, setStateValue }) {
  let board = boards.get(parentElement)
  if (!board) {
    board = newBoard(parentElement.querySelector(".board"))
    boards.set(parentElement, board)
  }
  board.send = (acts) => setStateValue("acts", { by: board.by, list: acts })
  try {
    update(board, data)
  } catch (error) {
    console.error("The rows can't be drawn:", error)
  }
}
