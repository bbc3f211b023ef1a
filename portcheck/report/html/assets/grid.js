// Going from cell to cell with the keyboard.

/** Let the Tab key lead to this cell. */
function goTo(index) {
  if (current !== null) places[current].tabIndex = -1;
  current = index;
  if (index !== null) places[index].tabIndex = 0;
}

function focusOn(td) {
  goTo(Number(td.dataset.cell));
  td.focus({ preventScroll: true });
  td.scrollIntoView({ block: "nearest", inline: "nearest" });
}

const PAGE = 15; // rows

// Key → how many rows and columns to go; the ends are as far as one can get.
const MOVES = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-PAGE, 0],
  PageDown: [PAGE, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

function moveByKey(event) {
  const td = event.target.closest("td[data-cell]");
  if (!td || event.altKey || event.metaKey) return;
  if (event.key === "Enter" || event.key === " ") open(CELLS[td.dataset.cell], td);
  else if (MOVES[event.key])
    move(td, event.ctrlKey ? [MOVES[event.key][0] * 1e9, MOVES[event.key][1]] : MOVES[event.key]);
  else return;
  event.preventDefault();
}

function move(td, [down, right]) {
  const lines = blocks.flatMap((block) => (block.section.hidden ? [] : block.rows.filter((row) => row.shown)));
  const at = lines.findIndex((row) => row.places.includes(td));
  if (at < 0) return;
  const next = right ? alongRow(lines[at], td, right) : alongColumn(lines, at, td, down);
  if (next) focusOn(next);
}

const canFocus = (td) => td !== null && !td.hidden;

function alongRow(row, td, right) {
  const shown = row.places.filter(canFocus);
  return shown[clamped(shown.indexOf(td) + right, shown.length)];
}

/** The cell so many rows further, or the nearest to it in the same column that there is. */
function alongColumn(lines, at, td, down) {
  const target = CELLS[td.dataset.cell].target;
  const direction = Math.sign(down);
  const of = (row) => row.places.find((one) => canFocus(one) && CELLS[one.dataset.cell].target === target);
  let goal = clamped(at + down, lines.length);
  while (goal !== at && !of(lines[goal])) goal -= direction;
  for (let further = at + direction; goal === at && lines[further]; further += direction) {
    if (of(lines[further])) return of(lines[further]);
  }
  return of(lines[goal]);
}

const clamped = (index, length) => Math.max(0, Math.min(length - 1, index));
