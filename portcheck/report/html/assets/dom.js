// Elements, texts and numbers. Every text of the report becomes a text node or an attribute here: none is ever parsed.

// Controls, what breaks lines or turns the direction of text, and halves of surrogate pairs.
const HIDDEN = new RegExp(
  [
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/,
    /[\ud800-\udbff](?![\udc00-\udfff])/,
    /(?<![\ud800-\udbff])[\udc00-\udfff]/,
  ]
    .map((part) => part.source)
    .join("|"),
  "g",
);

/** `text` with an escape, such as \x1b, for every character that cannot be shown. */
function visible(text) {
  return String(text)
    .replace(/\r\n/g, "\n")
    .replace(HIDDEN, (character) => {
      const code = character.charCodeAt(0).toString(16);
      return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
    });
}

/** An element. Attributes that are null or false are left out; `on` has listeners; children are elements or texts. */
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, { on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, visible(value));
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : visible(child));
    }
  }
}

function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

const named = (names, values) => Object.fromEntries(names.map((name, at) => [name, values[at]]));
const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
const byId = (id) => document.getElementById(id);

function seconds(value) {
  if (value === 0) return "0 s";
  if (value < 0.1) return `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
  return value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(value < 100 ? 1 : 0)} s`;
}

function bytes(value) {
  if (value < 1024) return `${Math.round(value)} B`;
  return value < 1 << 20 ? `${(value / 1024).toFixed(1)} KiB` : `${(value / (1 << 20)).toFixed(1)} MiB`;
}

const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
