// The matrix: a table a release, a row a kernel, a column a target. What the filter leaves out is hidden or pale.

const blocks = []; // {release, section, table, columns: [{target, head}], rows: [{line, places: [td or null]}]}
const places = []; // cell → its td
let current = null; // the cell that the Tab key leads to

function buildMatrix() {
  replace(byId("matrix"), RELEASES.map(buildBlock), el("p", { class: "nothing", hidden: true }, "No cell matches the filter."));
  byId("matrix").addEventListener("keydown", moveByKey);
  byId("matrix").addEventListener("click", (event) => {
    const td = event.target.closest("td[data-cell]");
    if (td) open(CELLS[td.dataset.cell], td);
  });
}

function buildBlock(release) {
  const rows = new Map();
  for (const cell of CELLS) {
    if (cell.triton === release) mapped(rows, cell.row, () => new Map()).set(cell.target, cell);
  }
  const used = new Set([...rows.values()].flatMap((cells) => [...cells.keys()]));
  const columns = TARGETS.filter((target) => used.has(target)).map(makeColumn);
  const block = { release, columns, rows: [...rows].map(([name, cells]) => makeRow(name, cells, columns)) };
  block.table = el(
    "table",
    { role: "grid", "aria-label": `Verdicts with Triton ${release}`, "aria-readonly": "true" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, `Triton ${release}`), columns.map((column) => column.head))),
    el("tbody", {}, block.rows.map((row) => row.line)),
  );
  block.section = el("section", { class: "block" }, el("h2", { class: "spoken" }, `Triton ${release}`), block.table);
  blocks.push(block);
  return block.section;
}

function makeColumn(target) {
  return { target, head: el("th", { scope: "col" }, target) };
}

function makeRow(name, cells, columns) {
  const line = document.createElement("tr");
  const shown = columns.map(({ target }) => (cells.has(target) ? makePlace(cells.get(target)) : null));
  line.append(el("th", { scope: "row", title: name }, name), ...shown.map((td) => td ?? el("td", { class: "absent" }, "–")));
  return { line, places: shown };
}

function makePlace(cell) {
  const td = document.createElement("td");
  td.dataset.cell = cell.index;
  td.tabIndex = -1;
  places[cell.index] = td;
  return td;
}

function mapped(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

/** Write and paint every cell: its verdict, or what is measured of it. */
function paint() {
  const measure = MEASURES[state.show];
  const heat = measure ? heats(state.show) : null;
  for (const cell of CELLS) {
    const td = places[cell.index];
    const value = measure ? measured(state.show, cell) : null;
    const warm = value === null ? null : heat(cell);
    td.textContent = value === null ? visible(withConfigs(cell)) : measure.text(value);
    td.className = value === null ? tone(cell) : warm === null ? "plain" : `heat${warm}`;
    td.setAttribute("aria-label", visible(`${place(cell)}: ${described(cell)}${value === null ? "" : `, ${measure.label} ${measure.text(value)}`}`));
  }
  paintLegend(measure);
}

function withConfigs(cell) {
  return cell.configs ? `${short(cell)} ${cell.configs.ok}/${cell.configs.of}` : short(cell);
}

function paintLegend(measure) {
  byId("legend")?.remove();
  if (!measure) return;
  const ends = measure.limit ? ["0", "what the target grants"] : extremes(state.show).map(measure.text);
  const steps = Array.from({ length: HEATS }, (_, heat) => el("span", { class: `heat${heat}` }, " "));
  byId("matrix").prepend(
    el("p", { id: "legend", class: "stuck" }, `${measure.label}: ${ends[0]} `, el("span", { "aria-hidden": "true", class: "scale" }, steps), ` ${ends[1]}`),
  );
}

/** Hide rows and columns in which nothing is accepted; make pale what is not, and shown. */
function filterMatrix() {
  const kept = new Set(accepted.map((cell) => cell.index));
  for (const block of blocks) filterBlock(block, kept);
  byId("matrix").querySelector(".nothing").hidden = kept.size > 0;
  byId("count").textContent = `${kept.size.toLocaleString("en")} of ${counted(CELLS.length, "cell")}`;
  if (current === null || !kept.has(current)) goTo(accepted[0]?.index ?? null);
}

function filterBlock(block, kept) {
  const columns = block.columns.map(() => false);
  for (const row of block.rows) {
    row.shown = false;
    row.places.forEach((td, column) => {
      const fits = td !== null && kept.has(Number(td.dataset.cell));
      if (td !== null) td.classList.toggle("pale", !fits);
      if (fits) row.shown = columns[column] = true;
    });
    row.line.hidden = !row.shown;
  }
  block.section.hidden = !block.rows.some((row) => row.shown);
  block.columns.forEach((column, at) => showColumn(block, column, at, columns[at]));
}

function showColumn(block, column, at, shown) {
  if (column.shown === shown) return;
  column.shown = shown;
  column.head.hidden = !shown;
  for (const row of block.rows) row.line.cells[at + 1].hidden = !shown;
}

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
  else if (MOVES[event.key]) move(td, event.ctrlKey ? [MOVES[event.key][0] * 1e9, MOVES[event.key][1]] : MOVES[event.key]);
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
