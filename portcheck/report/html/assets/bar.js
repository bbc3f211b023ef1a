// The head of the page and the filter below it.

function buildHead() {
  const tools = REPORT.toolchains.map((tool) => `Triton ${tool.triton} (Python ${tool.python})`);
  replace(byId("tools"), [`portcheck ${REPORT.tool.version}`, ...tools, "no GPU involved"].join(" · "));
  replace(byId("static"), DATA.static);
  const numbers = mappedCounts(CELLS, (cell) => cell.status ?? "none");
  replace(
    byId("tally"),
    Object.keys(STATUSES)
      .filter((status) => numbers.get(status))
      .map((status) => tallied(status, numbers.get(status))),
  );
}

function tallied(status, number) {
  const value = `status:${status}`;
  const toggle = () => set({ verdict: state.verdict === value ? "" : value, view: "matrix" });
  const name = status === "none" ? "absent" : status;
  return el(
    "li",
    {},
    el(
      "button",
      { type: "button", "data-verdict": value, "aria-pressed": "false", on: { click: toggle } },
      el("b", { class: `badge ${name}` }, number.toLocaleString("en")),
      ` ${STATUSES[status]}`,
    ),
  );
}

function mappedCounts(items, key) {
  const counts = new Map();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}

const option = (value, text = value) => el("option", { value }, text);

function fillSelects() {
  const backends = [...new Set(TARGETS.map((target) => `${target.split(":")[0]}:*`))];
  replace(
    byId("target"),
    option("", "all"),
    backends.length > 1 && backends.map((one) => option(one)),
    TARGETS.map((one) => option(one)),
  );
  replace(
    byId("release"),
    option("", "all"),
    RELEASES.map((one) => option(one)),
  );
  replace(byId("verdict"), option("", "all"), option("failing", "every failure"), verdictOptions());
  replace(
    byId("show"),
    option("verdict"),
    Object.entries(MEASURES).map(([name, { label }]) => option(name, label)),
  );
}

function verdictOptions() {
  const statuses = Object.entries(STATUSES).filter(([status]) =>
    CELLS.some((cell) => (cell.status ?? "none") === status),
  );
  const kinds = [...new Set(CELLS.filter((cell) => cell.group).map((cell) => cell.verdict))];
  return [
    CELLS.some((cell) => cell.warning) && option("warned", "ok, but will not launch"),
    el(
      "optgroup",
      { label: "Status" },
      statuses.map(([status, text]) => option(`status:${status}`, text)),
    ),
    kinds.length > 0 &&
      el(
        "optgroup",
        { label: "Kind" },
        kinds.map((kind) => option(`kind:${kind}`, kind)),
      ),
    kinds.length > 0 &&
      el(
        "optgroup",
        { label: "Failure group" },
        REPORT.failures.map(({ letter, verdict, message }) =>
          option(`group:${letter}`, `${letter} · ${verdict}: ${message.slice(0, 60)}`),
        ),
      ),
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

function showInputs() {
  for (const name of INPUTS) if (byId(name).value !== state[name]) byId(name).value = state[name];
  for (const button of byId("tally").querySelectorAll("button"))
    button.setAttribute("aria-pressed", button.dataset.verdict === state.verdict);
  byId("clear").disabled = INPUTS.every((name) => state[name] === FIELDS[name]);
}
