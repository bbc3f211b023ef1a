// What compile time, registers, spills and size do over the releases, of the cells that the filter lets through.

const LINES = 120; // of one plot: those that change most
const MOVERS = 8;
const TRENDS = ["seconds", "registers", "spills", "size"];

function showTrends() {
  const series = traced();
  replace(
    byId("trends"),
    el("h2", {}, "Over the releases"),
    el(
      "p",
      {},
      `A line for each of the ${series.length.toLocaleString("en")} pairs of kernel and target that compiled `,
      "with two releases or more, and a bold one for the median. The filter applies.",
    ),
    el(
      "div",
      { class: "plots" },
      TRENDS.map((name) => trend(name, series)),
    ),
  );
}

/** The cells of each row and target over the releases. */
function traced() {
  const found = new Map();
  for (const cell of accepted) {
    const all = mapped(found, `${cell.row}@${cell.target}`, () => ({
      label: `${cell.row} on ${cell.target}`,
      cells: RELEASES.map(() => null),
    }));
    all.cells[RELEASES.indexOf(cell.triton)] = cell;
  }
  return [...found.values()].filter(({ cells }) => cells.filter((cell) => cell?.verdict === "ok").length > 1);
}

function trend(name, series) {
  const measure = MEASURES[name];
  const lines = series
    .map(({ label, cells }) => ({ label, cells, values: cells.map((cell) => cell && measured(name, cell)) }))
    .filter(({ values }) => values.filter((value) => value !== null).length > 1)
    .map((line) => ({ ...line, ...ends(line) }))
    .sort((one, other) => Math.abs(other.change) - Math.abs(one.change));
  if (!lines.some(({ values }) => values.some(Boolean))) {
    return el(
      "figure",
      {},
      el("figcaption", {}, measure.label),
      el("p", { class: "nothing" }, lines.length ? "0 everywhere." : "Nothing to compare."),
    );
  }
  const middle = RELEASES.map((_, at) =>
    median(lines.map(({ values }) => values[at]).filter((value) => value !== null)),
  );
  const told = middle.map((value, at) => (value === null ? "" : `${RELEASES[at]} ${measure.text(rounded(value))}`));
  const label = `${measure.label}, median: ${told.join(", ")}`;
  return el(
    "figure",
    {},
    el("figcaption", {}, measure.label),
    plot(
      measure,
      [
        ...lines.slice(0, LINES).reverse(),
        { values: middle.map((value) => (value === null ? null : rounded(value))), label: "median", strong: true },
      ],
      label,
      { width: 520, height: 200 },
    ),
    movers(measure, lines),
    lines.length > LINES && el("p", { class: "remark" }, `The ${LINES} lines that change most, of ${lines.length}.`),
  );
}

function ends({ cells, values }) {
  const there = values.map((value, at) => [value, cells[at]]).filter(([value]) => value !== null);
  const [[first], [last, cell]] = [there[0], there[there.length - 1]];
  return { first, last, cell, change: (last + 1e-9) / (first + 1e-9) - 1 };
}

function movers(measure, lines) {
  const moved = lines.filter(({ first, last }) => measure.text(first) !== measure.text(last)).slice(0, MOVERS);
  if (!moved.length) return el("p", { class: "nothing" }, "No change.");
  return el(
    "table",
    { class: "plain" },
    el("caption", {}, "Largest changes"),
    el(
      "tbody",
      {},
      moved.map(({ label, first, last, cell }) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, cellLink(cell, label)),
          el("td", {}, `${measure.text(first)} → ${measure.text(last)}`),
        ),
      ),
    ),
  );
}

function median(values) {
  if (!values.length) return null;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const rounded = (value) => (value >= 10 ? Math.round(value) : Math.round(value * 1e4) / 1e4);
