// The matrix: a table a release, a row a kernel, a column a target. What the filter leaves out is hidden or pale.

const blocks = []; // {release, section, table, columns: [{target, head}], rows: [{line, places: [td or null]}]}
const places = []; // cell → its td
let current = null; // the cell that the Tab key leads to

function buildMatrix() {
  replace(
    byId("matrix"),
    RELEASES.map(buildBlock),
    el("p", { class: "nothing", hidden: true }, "No cell matches the filter."),
  );
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
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, `Triton ${release}`),
        columns.map((column) => column.head),
      ),
    ),
    el(
      "tbody",
      {},
      block.rows.map((row) => row.line),
    ),
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
  line.append(
    el("th", { scope: "row", title: name }, name),
    ...shown.map((td) => td ?? el("td", { class: "absent" }, "-")),
  );
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
    td.textContent = value === null ? visible(short(cell)) : measure.text(value);
    td.className = value === null ? tone(cell) : warm === null ? "plain" : `heat${warm}`;
    td.setAttribute("aria-label", visible(`${place(cell)}: ${spoken(cell, measure, td.textContent)}`));
  }
  paintLegend(measure);
}

/** What a screen reader says of a cell: what is written in it, and what that means. */
function spoken(cell, measure, written) {
  const told = measure && measured(state.show, cell) !== null ? `${measure.label} ${written}` : written;
  return [...new Set([told, described(cell)])].join(", ");
}

function paintLegend(measure) {
  byId("legend")?.remove();
  if (!measure) return;
  const ends = measure.limit ? ["0", "what the target grants"] : extremes(state.show).map(measure.text);
  const steps = Array.from({ length: HEATS }, (_, heat) => el("span", { class: `heat${heat}` }, " "));
  byId("matrix").prepend(
    el(
      "p",
      { id: "legend", class: "stuck" },
      `${measure.label}: ${ends[0]} `,
      el("span", { "aria-hidden": "true", class: "scale" }, steps),
      ` ${ends[1]}`,
    ),
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
