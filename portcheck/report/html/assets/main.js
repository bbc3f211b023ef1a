// Putting it together: the head, the filter bar, the tabs, and what is drawn anew when something changes.

function buildHead() {
  const tools = REPORT.toolchains.map((tool) => `Triton ${tool.triton} (Python ${tool.python})`);
  replace(byId("tools"), [`portcheck ${REPORT.tool.version}`, ...tools, "no GPU involved"].join(" · "));
  const numbers = mappedCounts(CELLS, (cell) => cell.status ?? "none");
  replace(byId("tally"), Object.keys(STATUSES).filter((status) => numbers.get(status)).map((status) => tallied(status, numbers.get(status))));
}

function tallied(status, number) {
  const value = `status:${status}`;
  const toggle = () => set({ verdict: state.verdict === value ? "" : value, view: "matrix" });
  const name = status === "none" ? "absent" : status;
  return el("li", {}, el("button", { type: "button", "data-verdict": value, "aria-pressed": "false", on: { click: toggle } }, el("b", { class: `badge ${name}` }, number.toLocaleString("en")), ` ${STATUSES[status]}`));
}

function mappedCounts(items, key) {
  const counts = new Map();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}

const option = (value, text = value) => el("option", { value }, text);

function fillSelects() {
  const backends = [...new Set(TARGETS.map((target) => `${target.split(":")[0]}:*`))];
  replace(byId("target"), option("", "all"), backends.length > 1 && backends.map((one) => option(one)), TARGETS.map((one) => option(one)));
  replace(byId("release"), option("", "all"), RELEASES.map((one) => option(one)));
  replace(byId("verdict"), option("", "all"), option("failing", "every failure"), verdictOptions());
  replace(byId("show"), option("verdict"), Object.entries(MEASURES).map(([name, { label }]) => option(name, label)));
}

function verdictOptions() {
  const statuses = Object.entries(STATUSES).filter(([status]) => CELLS.some((cell) => (cell.status ?? "none") === status));
  const kinds = [...new Set(CELLS.filter((cell) => cell.group).map((cell) => cell.verdict))];
  return [
    CELLS.some((cell) => cell.warning) && option("warned", "ok, but will not launch"),
    el("optgroup", { label: "Status" }, statuses.map(([status, text]) => option(`status:${status}`, text))),
    kinds.length > 0 && el("optgroup", { label: "Kind" }, kinds.map((kind) => option(`kind:${kind}`, kind))),
    kinds.length > 0 && el("optgroup", { label: "Failure group" }, REPORT.failures.map(({ letter, verdict, message }) => option(`group:${letter}`, `${letter} · ${verdict}: ${message.slice(0, 60)}`))),
  ];
}

const INPUTS = ["words", "target", "release", "verdict", "show"];

function listenToBar() {
  for (const name of INPUTS) {
    byId(name).addEventListener(name === "words" ? "input" : "change", (event) => set({ [name]: event.target.value }));
  }
  byId("clear").addEventListener("click", () => set({ ...FIELDS, view: state.view, cell: state.cell }));
  byId("bar").addEventListener("submit", (event) => event.preventDefault());
}

function buildTabs() {
  const numbers = { failures: REPORT.failures.length, changes: DATA.changes.reduce((sum, diff) => sum + diff.cells.length, 0) };
  const tabs = Object.keys(VIEWS).map((view) =>
    el("button", { type: "button", role: "tab", id: `tab-${view}`, "aria-controls": view, on: { click: () => set({ view }) } }, VIEWS[view] + (view in numbers ? ` (${numbers[view]})` : "")));
  replace(byId("tabs"), tabs);
  byId("tabs").addEventListener("keydown", (event) => {
    const right = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = right && tabs[(tabs.indexOf(document.activeElement) + right + tabs.length) % tabs.length];
    if (!next) return;
    next.focus();
    next.click();
  });
}

function showView() {
  for (const view of Object.keys(VIEWS)) {
    const isShown = view === state.view;
    byId(view).hidden = !isShown;
    byId(`tab-${view}`).setAttribute("aria-selected", isShown);
    byId(`tab-${view}`).tabIndex = isShown ? 0 : -1;
  }
}

function showInputs() {
  for (const name of INPUTS) if (byId(name).value !== state[name]) byId(name).value = state[name];
  for (const button of byId("tally").querySelectorAll("button")) button.setAttribute("aria-pressed", button.dataset.verdict === state.verdict);
  byId("clear").disabled = INPUTS.every((name) => state[name] === FIELDS[name]);
}

// The views that are drawn when they are seen.
const LISTS = { failures: showFailures, changes: showChanges, trends: showTrends };
const FILTERS = ["words", "target", "release", "verdict"];

/** Draw anew what the changed fields concern. */
function update(changed) {
  const has = (...names) => names.some((name) => changed.has(name));
  showInputs();
  if (has(...FILTERS)) refilter();
  if (has("show")) paint();
  if (has(...FILTERS, "show")) filterMatrix();
  if (has("view")) showView();
  if (has("view", ...FILTERS)) LISTS[state.view]?.();
  if (has("cell")) showPanel();
}

function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("viewer").open) return;
    const writes = event.target.closest("input, select, textarea");
    if (event.key === "Escape" && state.cell) close();
    else if (event.key === "Escape" && event.target === byId("words")) set({ words: "" });
    else if (event.key === "/" && !writes) {
      byId("words").focus();
      byId("words").select();
    } else return;
    event.preventDefault();
  });
}

/** What sticks to the top has to know how high the bar above it is. */
function measureBar() {
  const tell = () => document.documentElement.style.setProperty("--bar", `${byId("bar").offsetHeight}px`);
  new ResizeObserver(tell).observe(byId("bar"));
}

function showAll() {
  readAddress();
  update(new Set(Object.keys(FIELDS)));
  if (state.cell) places[BY_NAME.get(state.cell).index].scrollIntoView({ block: "nearest", inline: "nearest" });
}

buildHead();
fillSelects();
buildTabs();
buildMatrix();
listeners.push(update);
listenToBar();
listenToKeys();
measureBar();
showAll();
addEventListener("hashchange", showAll);
addEventListener("beforeprint", () => Object.keys(VIEWS).forEach((view) => LISTS[view]?.()));
