// The failure groups, and what else is to be said.

function showFailures() {
  const kept = new Set(accepted.map((cell) => cell.group));
  const groups = REPORT.failures.filter((group) => kept.has(group));
  const none = REPORT.failures.length ? "No failure among the cells that the filter lets through." : "Nothing failed.";
  replace(
    byId("failures"),
    el("h2", {}, "Failures"),
    groups.length ? groups.map(failureCard) : el("p", { class: "nothing" }, CELLS.length ? none : DATA.headline),
    DATA.notices.length > 0 && [el("h2", {}, "Besides"), DATA.notices.map(notice)],
  );
}

function failureCard(group) {
  const cells = group.cells.map((index) => CELLS[index]);
  const kind = `${group.verdict} in ${group.stage}` + (group.pass ? ` · pass ${group.pass}` : "");
  const statuses = [...new Set(cells.map((cell) => STATUSES[cell.status]))].join(", ");
  return el(
    "article",
    { class: "card", "aria-labelledby": `group-${group.letter}` },
    el(
      "h3",
      { id: `group-${group.letter}` },
      el("span", { class: `badge ${tone(cells[0])}` }, group.letter),
      ` ${kind}`,
    ),
    el("p", {}, `${counted(cells.length, "cell")}, ${statuses} · `, el("code", {}, group.fingerprint)),
    el("pre", { class: "message" }, group.message),
    explanation(group),
    DATA.told[group.letter].slice(1).map((line) => el("p", { class: "remark" }, line)),
    el("p", {}, el("button", { type: "button", on: { click: () => showGroup(group) } }, "Show in the matrix")),
    group.detail &&
      group.detail !== group.message &&
      el("details", {}, el("summary", {}, "What the compiler printed"), el("pre", {}, group.detail)),
  );
}

function notice({ title, lines }) {
  return el(
    "article",
    { class: "card" },
    el("h3", {}, title),
    lines.length > 0 &&
      el(
        "ul",
        {},
        lines.map((line) => el("li", {}, line)),
      ),
  );
}
