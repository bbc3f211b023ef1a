// In the panel of a cell: the same cell with other releases, as a table and as plots.

function releasePart(cell) {
  const all = siblings(cell);
  if (all.length < 2) return null;
  const names = Object.keys(MEASURES).filter((name) => all.some((one) => measured(name, one) !== null));
  return part(
    "Releases",
    el(
      "table",
      { class: "plain" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["Triton", "verdict", ...names.map((name) => MEASURES[name].label)].map((name) =>
            el("th", { scope: "col" }, name),
          ),
        ),
      ),
      el(
        "tbody",
        {},
        all.map((one) => releaseRow(one, one === cell, names)),
      ),
    ),
    el(
      "div",
      { class: "small" },
      names.map((name) => smallPlot(name, all)),
    ),
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
  return el(
    "figure",
    {},
    el("figcaption", {}, measure.label),
    plot(measure, [{ values, label: measure.label, strong: true }], label, { height: 120, width: 230 }),
  );
}
