// The panel of one cell: verdict, explanation, times, resources against limits, releases side by side, outputs.

let opener = null; // where the focus goes back to

function open(cell, from) {
  opener = from ?? document.activeElement;
  set({ cell: cell.cell });
  byId("panel-title")?.focus();
}

function close() {
  set({ cell: "" });
  const back = opener?.isConnected && !opener.hidden ? opener : places[current];
  back?.focus({ preventScroll: true });
}

function showPanel() {
  const cell = BY_NAME.get(state.cell);
  document.querySelector("td[aria-selected]")?.removeAttribute("aria-selected");
  byId("panel").hidden = !cell;
  document.body.classList.toggle("beside", Boolean(cell));
  if (!cell) return;
  places[cell.index].setAttribute("aria-selected", "true");
  goTo(cell.index);
  replace(byId("panel"), panelHead(cell), PARTS.map((part) => part(cell)));
  byId("panel").scrollTop = 0;
}

function panelHead(cell) {
  return el(
    "header",
    {},
    el("h2", { id: "panel-title", tabindex: "-1" }, cell.row),
    el("button", { type: "button", class: "close", "aria-label": "Close the panel", title: "Esc", on: { click: close } }, "✕"),
    el("p", {}, `${cell.target} · Triton ${cell.triton}`),
    el("p", {}, badge(cell), described(cell) === short(cell) ? "" : ` ${described(cell)}`),
  );
}

function badge(cell) {
  return el("span", { class: `badge ${tone(cell)}` }, short(cell));
}

const PARTS = [failurePart, expectedPart, configsPart, timePart, resourcePart, releasePart, outputPart, originPart];

function part(title, ...content) {
  return el("section", {}, el("h3", {}, title), content);
}

function terms(pairs) {
  const told = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return told.length ? el("dl", {}, told.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])) : null;
}

function failurePart(cell) {
  const group = cell.group;
  if (!group) return cell.warning ? part("What a launch will say", el("pre", { class: "message" }, cell.warning.message)) : null;
  const detail = group.detail && group.detail !== cell.message ? group.detail : null;
  return part(
    "What the compiler said",
    el("pre", { class: "message" }, cell.message),
    terms([
      ["at", cell.at && positionOf(cell.at)],
      ["pass", group.pass],
      ["fingerprint", el("code", {}, group.fingerprint)],
    ]),
    explanation(group),
    group.notes.map((note) => el("p", { class: "remark" }, note)),
    detail && el("details", {}, el("summary", {}, "What it printed"), el("pre", {}, detail)),
    el("p", { class: "actions" }, givenTo(cell), alikeTo(group)),
  );
}

/** What the stage that failed was given to work on. */
function givenTo(cell) {
  const stage = embedded(cell).at(-1);
  const show = el("button", { type: "button", on: { click: () => openOutput(cell, stage) } }, `Show the ${stage} that ${cell.stage} was given`);
  return stage && cell.stage !== "launch" ? show : null;
}

function alikeTo(group) {
  if (group.cells.length < 2) return null;
  const show = `Show the ${group.cells.length} cells of group ${group.letter}`;
  return el("button", { type: "button", on: { click: () => showGroup(group) } }, show);
}

/** What is known about a cause. Signatures are ours, and only their links become links. */
function explanation(group) {
  return terms([
    ["what", prose(group.title)],
    ["why", prose(group.why)],
    ["do", prose(group.do)],
    ["see", group.see && linkTo(group.see)],
  ]);
}

/** A text of ours, in which code stands between backticks. */
function prose(text) {
  return text && text.split("`").map((one, at) => (at % 2 ? el("code", {}, one) : one));
}

function linkTo(address) {
  if (!/^https:\/\//.test(address)) return address;
  return el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, address);
}

function showGroup(group) {
  set({ ...FIELDS, view: "matrix", show: state.show, cell: state.cell, verdict: `group:${group.letter}` });
}

function expectedPart({ expected, baseline, status }) {
  const told = terms([
    ["xfail", expected && [expected.target, expected.triton && `Triton ${expected.triton}`, expected.reason].filter(Boolean).join(" · ")],
    ["baseline", baseline && status === "new" && `knows it to fail differently: ${baseline.verdict} in ${baseline.stage}: ${baseline.message}`],
    ["baseline", baseline && (status === "ok" || status === "xpass") && "lists it, and it no longer fails"],
  ]);
  return told && part("What was expected", told);
}

function configsPart({ configs }) {
  if (!configs) return null;
  return part("Configurations", el("p", {}, `${configs.ok} of ${configs.of} compile`), bar("configurations that compile", configs.ok, configs.of, true));
}

function timePart({ seconds: whole, stages }) {
  const told = Object.entries(stages);
  if (!told.length) return null;
  const rest = Math.max(0, whole - told.reduce((sum, [, value]) => sum + value, 0));
  const parts = [...told, ...(rest > 0.0005 ? [["other", rest]] : [])];
  return part(
    `Time: ${seconds(whole)}`,
    el("div", { class: "times", "aria-hidden": "true" }, parts.map(([stage, value], at) => sized(el("span", { class: `stage${at % 8}`, title: `${stage}: ${seconds(value)}` }), value / whole))),
    el(
      "ul",
      { class: "legend", "aria-label": "Time of each stage" },
      parts.map(([stage, value], at) => el("li", {}, el("span", { class: `key stage${at % 8}`, "aria-hidden": "true" }), `${stage} ${seconds(value)}`)),
    ),
  );
}

function sized(element, share) {
  element.style.flexGrow = 100 * share; // shares that sum up to less than 1 would leave room
  return element;
}

const RESOURCES = { shared: "shared memory", tmem: "tensor memory", threads: "threads", registers: "registers" };

function resourcePart(cell) {
  const { resources } = cell;
  const limits = REPORT.limits[cell.target];
  const shown = Object.keys(RESOURCES).filter((name) => resources[name] !== null && (limits?.[name] !== 0 || resources[name]));
  const others = terms([
    ["spills", resources.spills],
    ["warps", resources.num_warps],
  ]);
  if (!shown.length && !others) return null;
  return part(
    "Resources",
    shown.map((name) => resource(name, resources[name], limits?.[name])),
    !limits && el("p", { class: "remark" }, `What ${cell.target} grants is not known here.`),
    others,
  );
}

function resource(name, asked, granted) {
  const written = name === "shared" ? bytes : (value) => value.toLocaleString("en");
  const known = granted !== undefined && granted !== null;
  return el(
    "div",
    { class: "resource" },
    el("span", {}, RESOURCES[name]),
    el("span", { class: "amount" }, written(asked) + (known ? ` of ${written(granted)}` : "")),
    known ? bar(RESOURCES[name], asked, granted) : null,
  );
}

/** A bar of what is used of a whole; more than that is red, unless all of it is good. */
function bar(label, value, whole, good = false) {
  const fill = el("span", { class: good ? "good" : value > whole ? "over" : value > 0.9 * whole ? "near" : "" });
  fill.style.width = `${Math.min(100, (100 * value) / (whole || 1))}%`;
  const told = { role: "meter", "aria-label": label, "aria-valuenow": value, "aria-valuemin": 0, "aria-valuemax": Math.max(value, whole) };
  return el("div", { class: "meter", ...told, "aria-valuetext": `${value} of ${whole}` }, fill);
}

function releasePart(cell) {
  const all = siblings(cell);
  if (all.length < 2) return null;
  const names = Object.keys(MEASURES).filter((name) => all.some((one) => measured(name, one) !== null));
  return part(
    "Releases",
    el(
      "table",
      { class: "plain" },
      el("thead", {}, el("tr", {}, ["Triton", "verdict", ...names.map((name) => MEASURES[name].label)].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, all.map((one) => releaseRow(one, one === cell, names))),
    ),
    el("div", { class: "small" }, names.map((name) => smallPlot(name, all))),
  );
}

function releaseRow(cell, isOpen, names) {
  const name = isOpen ? cell.triton : cellLink(cell, cell.triton);
  const values = names.map((measure) => {
    const value = measured(measure, cell);
    return el("td", {}, value === null ? "–" : MEASURES[measure].text(value));
  });
  return el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, badge(cell)), values);
}

function smallPlot(name, all) {
  const values = RELEASES.map((release) => {
    const cell = all.find((one) => one.triton === release);
    return cell ? measured(name, cell) : null;
  });
  const there = values.filter((value) => value !== null);
  if (there.length < 2 || !there.some(Boolean)) return null;
  const measure = MEASURES[name];
  const label = `${measure.label}: ${there.map(measure.text).join(", ")}`;
  return el("figure", {}, el("figcaption", {}, measure.label), plot(measure, [{ values, label: measure.label, strong: true }], label, { height: 120, width: 230 }));
}

function cellLink(cell, text) {
  const follow = (event) => {
    event.preventDefault();
    open(cell, event.currentTarget);
  };
  return el("a", { href: fragment({ cell: cell.cell }), on: { click: follow } }, text);
}

function outputPart(cell) {
  const stages = inOrder(Object.keys(cell.artifacts));
  if (!stages.length) return null;
  const absent = stages.some((stage) => whyAbsent(stage, cell.artifacts[stage].digest));
  return part(
    "Outputs",
    el(
      "table",
      { class: "plain" },
      el("thead", {}, el("tr", {}, ["stage", "size", "digest", "text"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, stages.map((stage) => outputRow(cell, stage))),
    ),
    absent && el("p", { class: "remark" }, "What is not in this page: ", el("code", {}, `portcheck check ${selection(cell)} --save-ir DIR`)),
  );
}

function outputRow(cell, stage) {
  const { digest, size } = cell.artifacts[stage];
  const view = el("button", { type: "button", "aria-label": `Show ${stage}`, on: { click: () => openOutput(cell, stage) } }, "Show");
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, stage),
    el("td", {}, bytes(size)),
    el("td", {}, el("code", { title: digest }, digest.slice(0, 12))),
    el("td", {}, whyAbsent(stage, digest) ?? view),
  );
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const selection = (cell) => `-k ${quoted(cell.row)} -t ${cell.target} --triton ${cell.triton}`;

function originPart(cell) {
  return part(
    "This cell",
    terms([
      ["defined", cell.source && positionOf([cell.source.file, cell.source.line, null])],
      ["came from", cell.from],
      ["more", el("code", {}, `portcheck explain ${quoted(cell.cell)}`)],
      ["link", el("a", { href: fragment() }, "to this cell")],
    ]),
  );
}
