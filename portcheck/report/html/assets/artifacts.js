// In the panel of a cell: the outputs of its stages, where it came from, and how to see more.

function outputPart(cell) {
  const stages = inOrder(Object.keys(cell.artifacts));
  if (!stages.length) return null;
  const absent = stages.some((stage) => whyAbsent(stage, cell.artifacts[stage].digest));
  return part(
    "Outputs",
    el(
      "table",
      { class: "plain" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["stage", "size", "digest", "text"].map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      el(
        "tbody",
        {},
        stages.map((stage) => outputRow(cell, stage)),
      ),
    ),
    absent &&
      el(
        "p",
        { class: "remark" },
        "What is not in this page: ",
        el("code", {}, `portcheck check ${selection(cell)} --save-ir DIR`),
      ),
  );
}

function outputRow(cell, stage) {
  const { digest, size } = cell.artifacts[stage];
  const view = el(
    "button",
    { type: "button", "aria-label": `Show ${stage}`, on: { click: () => openOutput(cell, stage) } },
    "Show",
  );
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
