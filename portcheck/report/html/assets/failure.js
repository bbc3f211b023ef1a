// In the panel of a cell: what the compiler said, why, what to do, and what was expected.

function failurePart(cell) {
  const group = cell.group;
  if (!group)
    return cell.warning ? part("What a launch will say", el("pre", { class: "message" }, cell.warning.message)) : null;
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
    group.notes.filter((note) => note.includes(cell.row)).map((note) => el("p", { class: "remark" }, note)),
    detail && el("details", {}, el("summary", {}, "What it printed"), el("pre", {}, detail)),
    el("p", { class: "actions" }, givenTo(cell), alikeTo(group)),
  );
}

/** What the stage that failed was given to work on. */
function givenTo(cell) {
  const stage = embedded(cell)
    .filter((one) => one !== cell.stage)
    .at(-1);
  const show = el(
    "button",
    { type: "button", on: { click: () => openOutput(cell, stage) } },
    `Show the ${stage} that ${cell.stage} was given`,
  );
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

function showGroup(group) {
  set({ ...FIELDS, view: "matrix", show: state.show, cell: state.cell, verdict: `group:${group.letter}` });
}

function expectedPart({ expected, baseline, status }) {
  const told = terms([
    [
      "xfail",
      expected &&
        [expected.target, expected.triton && `Triton ${expected.triton}`, expected.reason].filter(Boolean).join(" · "),
    ],
    [
      "baseline",
      baseline &&
        status === "new" &&
        `knows it to fail differently: ${baseline.verdict} in ${baseline.stage}: ${baseline.message}`,
    ],
    ["baseline", baseline && (status === "ok" || status === "xpass") && "lists it, and it no longer fails"],
  ]);
  return told && part("What was expected", told);
}
