// What is measured of a cell that compiled: for the colours of the matrix, and for plots over releases.

const MEASURES = {
  seconds: { label: "compile time", of: (cell) => cell.seconds || null, text: seconds, log: true },
  registers: { label: "registers", of: (cell) => cell.resources.registers, text: String, limit: "registers" },
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
  return cell.verdict === "ok" ? MEASURES[name].of(cell) ?? null : null;
}

/** A function from cells to 0 … 4, the share of the limit where there is one, else between the least and the most. */
function heats(name) {
  const { limit, log } = MEASURES[name];
  if (limit) return (cell) => step(measured(name, cell), REPORT.limits[cell.target]?.[limit] ?? null);
  const values = CELLS.map((cell) => measured(name, cell)).filter((value) => value !== null);
  const scale = log ? (value) => Math.log(value) : (value) => value;
  const least = scale(values.reduce((one, other) => Math.min(one, other), Infinity));
  const most = scale(values.reduce((one, other) => Math.max(one, other), -Infinity));
  return (cell) => {
    const value = measured(name, cell);
    return value === null ? null : step(scale(value) - least, most - least);
  };
}

function step(value, whole) {
  if (value === null || whole === null) return null;
  return whole > 0 ? Math.max(0, Math.min(HEATS - 1, Math.floor((value / whole) * HEATS))) : 0;
}
