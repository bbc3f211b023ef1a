// What is shown: the filter, the view and the open cell. It stands in the address, so that a link leads to the same.

const FIELDS = { view: "matrix", words: "", target: "", release: "", verdict: "", show: "verdict", cell: "" };
const state = { ...FIELDS };
const listeners = [];

/** Change what is shown; whoever listens hears which fields changed. */
function set(changes) {
  const changed = new Set(Object.keys(changes).filter((name) => state[name] !== changes[name]));
  if (!changed.size) return;
  Object.assign(state, changes);
  writeAddress();
  tell(changed);
}

function tell(changed) {
  for (const listener of listeners) listener(changed);
}

function fragment(changes = {}) {
  const fields = Object.entries({ ...state, ...changes }).filter(([name, value]) => value !== FIELDS[name]);
  return `#${new URLSearchParams(fields)}`;
}

function writeAddress() {
  try {
    history.replaceState(null, "", fragment());
  } catch {
    // A page inside a sandboxed frame has no address to change, and works without.
  }
}

function readAddress() {
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const known = Object.fromEntries(Object.entries(FIELDS).map(([name, value]) => [name, given[name] ?? value]));
  if (!VIEWS[known.view]) known.view = FIELDS.view;
  if (!(known.show in MEASURES)) known.show = FIELDS.show;
  if (!BY_NAME.has(known.cell)) known.cell = "";
  Object.assign(state, known);
}

const VIEWS = {
  matrix: "Matrix",
  failures: "Failures",
  ...(RELEASES.length > 1 && { changes: "Changes", trends: "Trends" }),
};

const VERDICTS = {
  status: (cell, value) => (cell.status ?? "none") === value,
  kind: (cell, value) => cell.verdict === value,
  group: (cell, value) => cell.group?.letter === value,
  failing: (cell) => cell.group !== null,
  warned: (cell) => cell.warning !== null,
};

/** The cells that the filter lets through, as a function. */
function accepting({ words, target, release, verdict }) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const [kind, value] = verdict.split(/:(.*)/s);
  const fits = VERDICTS[kind] ?? (() => true);
  const backend = target.endsWith(":*") ? target.slice(0, -1) : null;
  return (cell) =>
    (!release || cell.triton === release) &&
    (!target || (backend ? cell.target.startsWith(backend) : cell.target === target)) &&
    fits(cell, value) &&
    wanted.every((word) => haystack(cell).includes(word));
}

function haystack(cell) {
  cell.haystack ??= visible(
    [cell.cell, cell.verdict, cell.fingerprint, cell.message, cell.source?.file].filter(Boolean).join("\n"),
  ).toLowerCase();
  return cell.haystack;
}

let accepted = CELLS;

function refilter() {
  accepted = CELLS.filter(accepting(state));
}
