// Plots over releases, drawn as SVG. A table stands beside each that has more to say than its label.

const LABEL = 56; // the width of a release's name, with room beside it
const PLOT = { width: 320, height: 180, left: 62, right: 12, top: 12, bottom: 26 };

/** Lines over the releases. `lines` are [{values: [number or null], label, strong}]. */
function plot(measure, lines, label, size = {}) {
  const box = { ...PLOT, ...size };
  const values = lines.flatMap((line) => line.values).filter((value) => value !== null);
  const y = scaleY(values, measure.log, box);
  const x = (at) =>
    box.left + (RELEASES.length > 1 ? (at / (RELEASES.length - 1)) * (box.width - box.left - box.right) : 0);
  return svg(
    "svg",
    { class: "plot", viewBox: `0 0 ${box.width} ${box.height}`, role: "img", "aria-label": label },
    y.ticks.map((tick) => gridLine(tick, y(tick), measure, box)),
    labelled(box).map((at) => releaseLabel(RELEASES[at], at, x(at), box)),
    lines.map((line) => drawn(line, x, y, measure)),
  );
}

function scaleY(values, log, box) {
  let [least, most] = [Math.min(...values), Math.max(...values)];
  const isLog = log && least > 0 && most / least > 20;
  if (!isLog) least = 0;
  if (least === most) most = least + 1;
  const scale = isLog ? Math.log : (value) => value;
  const y = (value) =>
    box.height -
    box.bottom -
    ((scale(value) - scale(least)) / (scale(most) - scale(least))) * (box.height - box.top - box.bottom);
  y.ticks = isLog ? [least, Math.sqrt(least * most), most] : [least, (least + most) / 2, most];
  return y;
}

function gridLine(tick, y, measure, box) {
  const text = measure.text(tick >= 10 ? Math.round(tick) : Math.round(tick * 1e4) / 1e4);
  return [
    svg("line", { class: "grid", x1: box.left, x2: box.width - box.right, y1: y, y2: y }),
    svg("text", { x: box.left - 6, y: y + 4, "text-anchor": "end" }, text),
  ];
}

/** The releases that there is room to name, the first and the last of them always. */
function labelled(box) {
  const last = RELEASES.length - 1;
  const each = Math.ceil((RELEASES.length * LABEL) / (box.width - box.left - box.right));
  return RELEASES.map((_, at) => at).filter((at) => at === last || (at % each === 0 && last - at >= each));
}

function releaseLabel(release, at, x, box) {
  const anchor = at === 0 ? "start" : at === RELEASES.length - 1 ? "end" : "middle";
  return svg("text", { x, y: box.height - 8, "text-anchor": anchor }, release);
}

function drawn({ values, label, strong }, x, y, measure) {
  const points = values.map((value, at) => (value === null ? null : [x(at), y(value)])).filter(Boolean);
  const told =
    label + values.map((value, at) => (value === null ? "" : `\n${RELEASES[at]}: ${measure.text(value)}`)).join("");
  return svg(
    "g",
    { class: strong ? "line strong" : "line" },
    svg("title", {}, told),
    svg("polyline", { points: points.map((point) => point.map((number) => number.toFixed(1)).join(",")).join(" ") }),
    strong ? points.map(([cx, cy]) => svg("circle", { cx, cy, r: 3 })) : null,
  );
}
