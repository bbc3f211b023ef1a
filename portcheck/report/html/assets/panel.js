// The panel of one cell: its head, and what each part says of it.

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
  replace(
    byId("panel"),
    panelHead(cell),
    PARTS.map((part) => part(cell)),
  );
  byId("panel").scrollTop = 0;
}

function panelHead(cell) {
  return el(
    "div",
    { class: "head" },
    el("h2", { id: "panel-title", tabindex: "-1" }, cell.row),
    el(
      "button",
      { type: "button", class: "close", "aria-label": "Close the panel", title: "Esc", on: { click: close } },
      "✕",
    ),
    el("p", {}, `${cell.target} · Triton ${cell.triton}`),
    el("p", {}, badge(cell), described(cell) === short(cell) ? "" : ` ${described(cell)}`),
  );
}

const PARTS = [failurePart, expectedPart, configsPart, timePart, resourcePart, releasePart, outputPart, originPart];
