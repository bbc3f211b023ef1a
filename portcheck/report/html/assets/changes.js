// What became of cells from release to release.

const MOST = 60; // rows of one table; more is no reading matter, and the filter finds the rest

const CHANGES = {
  regressed: "Regressed",
  different: "Fail differently",
  spills: "Begin to spill registers",
  slower: "Slower to compile",
  fixed: "Fixed",
  added: "Only in the new release",
  removed: "Only in the old release",
};

function showChanges() {
  const kept = new Set(accepted);
  replace(
    byId("changes"),
    [...DATA.changes].reverse().map((diff) => changesOf(diff, kept)), // the newest first
  );
}

function changesOf({ old, new: next, cells }, kept) {
  const shown = cells
    .map((pair) => ({ ...pair, old: CELLS[pair.old], new: CELLS[pair.new] }))
    .filter((pair) => kept.has(pair.old) || kept.has(pair.new));
  const kinds = Object.entries(CHANGES).map(([kind, title]) => [
    title,
    shown.filter((pair) => pair.change === kind || pair[kind] === true),
  ]);
  const told = kinds.filter(([, pairs]) => pairs.length);
  return el(
    "section",
    {},
    el("h2", {}, `Triton ${old} → ${next}`),
    told.length
      ? told.map(([title, pairs]) => changeTable(title, pairs, old, next))
      : el("p", { class: "nothing" }, cells.length ? "No change that the filter lets through." : "Nothing changed."),
  );
}

// What a table of changes says of a pair: what failed, or how the two compare.
const COLUMNS = {
  message: { message: (pair) => [pair.new, pair.old].map((cell) => cell?.message).find(Boolean) ?? "" },
  measures: Object.fromEntries(
    ["seconds", "registers", "spills", "size"].map((name) => [MEASURES[name].label, (pair) => fromTo(name, pair)]),
  ),
};

function changeTable(title, pairs, old, next) {
  const columns = pairs.some((pair) => pair.old?.message || pair.new?.message) ? COLUMNS.message : COLUMNS.measures;
  const heads = ["kernel", "target", old, next, ...Object.keys(columns)];
  const rows = alike(pairs, columns);
  return [
    el("h3", {}, `${title}: ${pairs.length}`),
    el(
      "div",
      { class: "scroll" },
      el(
        "table",
        { class: "plain" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            heads.map((name) => el("th", { scope: "col" }, name)),
          ),
        ),
        el(
          "tbody",
          {},
          rows.slice(0, MOST).map((of) => changeRow(of, columns)),
        ),
      ),
    ),
    rows.length > MOST &&
      el("p", { class: "remark" }, `and ${rows.length - MOST} more rows: filter by kernel or target to see them`),
  ];
}

/** The pairs of each row of a table: those that only differ in their targets share one, and so do equal failures. */
function alike(pairs, columns) {
  const rows = new Map();
  for (const pair of pairs) {
    const cells = [pair.old, pair.new];
    const told = columns === COLUMNS.message ? [] : Object.values(columns).map((column) => column(pair));
    const key = JSON.stringify([
      (pair.new ?? pair.old).row,
      cells.map((cell) => cell && [short(cell), cell.fingerprint]),
      told,
    ]);
    mapped(rows, key, () => []).push(pair);
  }
  return [...rows.values()];
}

function changeRow(pairs, columns) {
  const [pair] = pairs;
  const targets = pairs.flatMap((one, at) => [
    at ? ", " : "",
    cellLink(one.new ?? one.old, (one.new ?? one.old).target),
  ]);
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, (pair.new ?? pair.old).row),
    el("td", { class: "told" }, targets),
    [pair.old, pair.new].map((cell) => el("td", {}, cell ? badge(cell) : "–")),
    Object.values(columns).map((told) => el("td", { class: "told" }, told(pair))),
  );
}

function fromTo(name, pair) {
  const values = [pair.old, pair.new].map((cell) => (cell ? measured(name, cell) : null));
  if (values.includes(null)) return "–";
  const [before, now] = values.map(MEASURES[name].text);
  return before === now ? now : `${before} → ${now}`;
}
