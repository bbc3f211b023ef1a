// Outputs of stages: inflated when they are opened, and highlighted piece by piece as they come into view.

const PIECE = 300; // lines

const COMMENT = { slashes: "//[^\\n]*", semicolon: ";[^\\n]*", both: "(?://|;)[^\\n]*" };
const GRAMMAR = {
  string: '"(?:[^"\\\\\\n]|\\\\.)*"',
  where: "#?\\bloc\\d*(?:\\((?:[^()\\n]|\\([^()\\n]*\\))*\\))?|#loc\\d*|!dbg\\b|![0-9]+",
  value: "%[\\w$.#-]+",
  symbol: "@[\\w$.]+",
  attribute: "[#!][A-Za-z_][\\w.]*",
  type: "\\b(?:tensor|memref|vector|bf16|index|ptr|void|label|[iusfb]\\d{1,3}|pred)\\b",
  op: "\\b[a-z_]\\w*\\.[\\w.]+|(?<=^[ \\t]*|= )[a-z_]\\w+\\b",
  directive: "(?<![\\w)])\\.[a-z_]\\w*",
  number: "(?<![\\w$.])-?(?:0[xX][0-9a-fA-F]+|\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?)\\b",
};
const LANGUAGES = { llir: COMMENT.semicolon, amdgcn: COMMENT.both };

function tokens(stage) {
  const rules = { comment: LANGUAGES[stage] ?? COMMENT.slashes, ...GRAMMAR };
  return new RegExp(
    Object.entries(rules)
      .map(([name, rule]) => `(?<${name}>${rule})`)
      .join("|"),
    "gm",
  );
}

/** `text` as text nodes and spans, by what its parts are. */
function highlighted(text, stage) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(tokens(stage))) {
    const kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    parts.push(text.slice(end, found.index), el("span", { class: `t-${kind}` }, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}

async function inflated(packed) {
  const raw = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return await new Response(stream).text();
}

const gone = new Set(DATA.outputs.gone);

/** Why an output is not in the page; null if it is. */
function whyAbsent(stage, digest) {
  if (DATA.outputs.texts[digest]) return null;
  if (BINARIES.includes(stage)) return "binary";
  return gone.has(digest) ? "no longer in the cache" : "left out for want of room";
}

const embedded = (cell) =>
  inOrder(Object.keys(cell.artifacts)).filter((stage) => !whyAbsent(stage, cell.artifacts[stage].digest));

async function openOutput(cell, stage) {
  const viewer = byId("viewer");
  const body = el(
    "div",
    { class: "code", tabindex: "0", role: "region", "aria-label": `${stage} of ${place(cell)}` },
    "…",
  );
  replace(viewer, viewerHead(cell, stage), body);
  if (!viewer.open) viewer.showModal();
  try {
    replace(body, numbered(visible(await inflated(DATA.outputs.texts[cell.artifacts[stage].digest])), stage));
  } catch (error) {
    replace(body, `This browser cannot inflate the text: ${error.message}`);
  }
}

function viewerHead(cell, stage) {
  const choose = (event) => openOutput(cell, event.target.value);
  return el(
    "div",
    { class: "head" },
    el("h2", { id: "viewer-title" }, place(cell)),
    el(
      "label",
      {},
      "Stage ",
      el(
        "select",
        { on: { change: choose } },
        embedded(cell).map((one) => el("option", { selected: one === stage }, one)),
      ),
    ),
    el("button", { type: "button", on: { click: copyOutput } }, "Copy"),
    el("button", { type: "button", on: { click: () => byId("viewer").close() } }, "Close"),
  );
}

function numbered(text, stage) {
  const lines = text.replace(/\n$/, "").split("\n");
  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      replace(target, highlighted(target.textContent, stage));
    }
  });
  const pieces = [];
  for (let start = 0; start < lines.length; start += PIECE) {
    const piece = el("code", {}, lines.slice(start, start + PIECE).join("\n") + "\n");
    pieces.push(piece);
    watcher.observe(piece);
  }
  const numbers = lines.map((_, at) => at + 1).join("\n");
  return [el("pre", { class: "numbers", "aria-hidden": "true" }, numbers), el("pre", { class: "text" }, pieces)];
}

async function copyOutput(event) {
  const text = byId("viewer").querySelector(".text");
  try {
    await navigator.clipboard.writeText(text.textContent);
    event.target.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(text); // no access to the clipboard: what is selected can be copied by hand
  }
}
