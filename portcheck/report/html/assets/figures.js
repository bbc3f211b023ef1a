// In the panel of a cell: configurations, the time of each stage, and resources against what the target grants.

/** What became of the configurations of an autotuned row. */
function configsPart({ configs }) {
  if (!configs) return null;
  const { ok, of, total = of, shown = null, failed = [] } = configs;
  return part(
    "Configurations",
    el("p", {}, `${ok} of ${of} compile` + (total > of ? `; a launch chooses from ${total}` : "")),
    bar("configurations that compile", ok, of, true),
    terms([
      ["shown here", shown],
      ...failed.map(({ config, verdict, stage, message }) => [config, `${verdict} in ${stage}: ${message}`]),
    ]),
  );
}

function timePart({ seconds: whole, stages }) {
  const told = Object.entries(stages);
  if (!told.length) return null;
  const rest = Math.max(0, whole - told.reduce((sum, [, value]) => sum + value, 0));
  const parts = [...told, ...(rest > 0.0005 ? [["other", rest]] : [])];
  return part(
    `Time: ${seconds(whole)}`,
    el(
      "div",
      { class: "times", "aria-hidden": "true" },
      parts.map(([stage, value], at) =>
        sized(el("span", { class: `stage${at % 8}`, title: `${stage}: ${seconds(value)}` }), value / whole),
      ),
    ),
    el(
      "ul",
      { class: "legend", "aria-label": "Time of each stage" },
      parts.map(([stage, value], at) =>
        el("li", {}, el("span", { class: `key stage${at % 8}`, "aria-hidden": "true" }), `${stage} ${seconds(value)}`),
      ),
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
  const shown = Object.keys(RESOURCES).filter(
    (name) => resources[name] !== null && (limits?.[name] !== 0 || resources[name]),
  );
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
