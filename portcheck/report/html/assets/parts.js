// What panels and lists are made of.

function badge(cell) {
  return el("span", { class: `badge ${tone(cell)}` }, short(cell));
}

function part(title, ...content) {
  return el("section", {}, el("h3", {}, title), content);
}

function terms(pairs) {
  const told = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return told.length
    ? el(
        "dl",
        {},
        told.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
      )
    : null;
}

/** A text of ours, in which code stands between backticks. */
function prose(text) {
  return text && text.split("`").map((one, at) => (at % 2 ? el("code", {}, one) : one));
}

function linkTo(address) {
  if (!/^https:\/\//.test(address)) return address;
  return el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, address);
}

/** A bar of what is used of a whole; more than that is red, unless all of it is good. */
function bar(label, value, whole, good = false) {
  const fill = el("span", { class: good ? "good" : value > whole ? "over" : value > 0.9 * whole ? "near" : "" });
  fill.style.width = `${Math.min(100, (100 * value) / (whole || 1))}%`;
  const told = {
    role: "meter",
    "aria-label": label,
    "aria-valuenow": value,
    "aria-valuemin": 0,
    "aria-valuemax": Math.max(value, whole),
  };
  return el("div", { class: "meter", ...told, "aria-valuetext": `${value} of ${whole}` }, fill);
}

function cellLink(cell, text) {
  const follow = (event) => {
    event.preventDefault();
    open(cell, event.currentTarget);
  };
  return el("a", { href: fragment({ cell: cell.cell }), on: { click: follow } }, text);
}
