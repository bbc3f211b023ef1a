// For every text in sight with too little contrast: what it is, and how much it has. WCAG 2, for normal text.
function channels(color) {
  const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
  return { rgb: [red, green, blue], alpha };
}

function over({ rgb, alpha }, below) {
  return rgb.map((value, at) => value * alpha + below[at] * (1 - alpha));
}

function background(element) {
  if (!element) return [255, 255, 255];
  const color = channels(getComputedStyle(element).backgroundColor);
  return color.alpha === 1 ? color.rgb : over(color, background(element.parentElement));
}

function luminance(rgb) {
  const [red, green, blue] = rgb.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratio(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const low = new Map();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let texts = 0;
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, style")) continue;
  const style = getComputedStyle(element);
  const below = background(element);
  const color = element.closest("svg") ? style.fill : style.color;
  const contrast = ratio(over(channels(color), below), below);
  texts += 1;
  if (contrast < 4.5) low.set(`${element.tagName}.${element.className.baseVal ?? element.className} ${color} on ${below}`, contrast);
}
return { texts, low: [...low].map(([what, contrast]) => `${what}: ${contrast.toFixed(2)}`) };
