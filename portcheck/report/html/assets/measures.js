// What is measured of a cell that compiled: for the colours of the matrix, and for plots over releases.

const MEASURES = {
  seconds: { label: "compile time", of: (cell) => cell.seconds || null, text: seconds, log: true },
  registers: { label: "registers", of: (cell) => cell.resources.registers, text: String, log: true },
  spills: { label: "spills", of: (cell) => cell.resources.spills, text: String },
  shared: { label: "shared memory", of: (cell) => cell.resources.shared, text: bytes, limit: "shared" },
  size: { label: "size of the binary", of: binarySize, text: bytes, log: true },
};
const HEATS = 5;

function binarySize(cell) {
  const stage = BINARIES.find((name) => cell.artifacts[name]);
  return stage ? cell.artifacts[stage].size : null;
}

/** A measure of a cell; null if it did not compile, or its target has no such thing. */
function measured(name, cell) {
  return cell.verdict === "ok" ? (MEASURES[name].of(cell) ?? null) : null;
}

/** A function from cells to 0 … 4, the share of the limit where there is one, else between the least and the most. */
function heats(name) {
  const { limit, log } = MEASURES[name];
  if (limit) return (cell) => step(measured(name, cell), REPORT.limits[cell.target]?.[limit] ?? null);
  const scale = log ? (value) => Math.log(Math.max(value, 1e-4)) : (value) => value;
  const [least, most] = extremes(name).map(scale);
  return (cell) => {
    const value = measured(name, cell);
    return value === null ? null : step(scale(value) - least, most - least);
  };
}

/** The least and the most of all cells; zeros if none has the measure. */
function extremes(name) {
  const values = CELLS.map((cell) => measured(name, cell)).filter((value) => value !== null);
  if (!values.length) return [0, 0];
  return [Math.min, Math.max].map((better) => values.reduce((one, other) => better(one, other)));
}

function step(value, whole) {
  if (value === null || whole === null) return null;
  return whole > 0 ? Math.max(0, Math.min(HEATS - 1, Math.floor((value / whole) * HEATS))) : 0;
}
