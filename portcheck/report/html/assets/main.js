// Putting it together: the tabs, the keys of the page, and what is drawn anew when something changes.

function buildTabs() {
  const numbers = {
    failures: REPORT.failures.length,
    changes: DATA.changes.reduce((sum, diff) => sum + diff.cells.length, 0),
  };
  const tabs = Object.keys(VIEWS).map((view) =>
    el(
      "button",
      { type: "button", role: "tab", id: `tab-${view}`, "aria-controls": view, on: { click: () => set({ view }) } },
      VIEWS[view] + (view in numbers ? ` (${numbers[view]})` : ""),
    ),
  );
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

/** The link for those who do not want to go through the filter: its address must not change what is shown. */
function listenToSkip() {
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    set({ view: "matrix" });
    if (current !== null) focusOn(places[current]);
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
listenToSkip();
measureBar();
showAll();
addEventListener("hashchange", showAll);
addEventListener("beforeprint", () => Object.keys(VIEWS).forEach((view) => LISTS[view]?.()));
