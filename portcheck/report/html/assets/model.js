// The report, with what is asked of it often: cells by row and target, the group of each, and what to call it.

const DATA = JSON.parse(byId("data").textContent);
const REPORT = DATA.report;
const GROUPS = new Map(REPORT.failures.map((group) => [group.fingerprint, group]));
const MISSING = new Set(REPORT.missing);
const CELLS = DATA.cells.map(makeCell);
const BY_NAME = new Map(CELLS.map((cell) => [cell.cell, cell]));
const RELEASES = REPORT.toolchains
  .map((tool) => tool.triton)
  .filter((one) => CELLS.some((cell) => cell.triton === one));
const TARGETS = REPORT.targets;
const BINARIES = ["cubin", "hsaco"];
const STAGES = ["source", "ttir", "ttgir", "glir", "llir", "ptx", "amdgcn", "cubin", "hsaco"];

const STATUSES = {
  ok: "ok",
  new: "new failure",
  known: "known to the baseline",
  xfail: "expected to fail",
  xpass: "passed unexpectedly",
  none: "without a verdict",
};

/** A cell from its fields, which lie in the page without their names. */
function makeCell(values, index) {
  const data = named(DATA.fields, values);
  const resources = named(DATA.resources, data.resources);
  const artifacts = mapValues(data.artifacts, ([digest, size]) => ({ digest, size }));
  const group = GROUPS.get(data.fingerprint) ?? null;
  const own = DATA.own[index] ?? {};
  const row = data.variant === null ? data.kernel : `${data.kernel}[${data.variant}]`;
  const cell = `${row}@${data.target}@${data.triton}`;
  return {
    ...data,
    resources,
    artifacts,
    index,
    row,
    cell,
    group,
    message: own.message ?? group?.message ?? null,
    at: own.at ?? null,
  };
}

/** What the matrix shows of a verdict. */
const short = (cell) => (cell.warning ? `${cell.text} ⚠` : cell.text);

/** How a cell is painted; texts differ, too. */
function tone(cell) {
  if (cell.status === null) return MISSING.has(cell.index) ? "missing" : "absent";
  return cell.warning ? "warned" : cell.status;
}

const place = (cell) => `${cell.row} on ${cell.target}` + (RELEASES.length > 1 ? ` with ${cell.triton}` : "");

/** A cell in words. */
function described(cell) {
  const status = STATUSES[cell.status ?? "none"];
  const configs = cell.configs ? `, ${cell.configs.ok} of ${cell.configs.of} configurations` : "";
  if (!cell.group)
    return `${status}${cell.warning ? `, but no launch succeeds: ${cell.warning.message}` : ""}${configs}`;
  return `${cell.verdict} in ${cell.stage}, group ${cell.group.letter}, ${status}${configs}`;
}

/** The cells of the same row and target, release by release. */
function siblings(cell) {
  return RELEASES.map((release) => BY_NAME.get(`${cell.row}@${cell.target}@${release}`)).filter(Boolean);
}

const inOrder = (stages) =>
  [...stages].sort((one, other) => ((STAGES.indexOf(one) + 99) % 99) - ((STAGES.indexOf(other) + 99) % 99));

const positionOf = ([file, line, column]) => `${file}:${line}${column === null ? "" : `:${column}`}`;
