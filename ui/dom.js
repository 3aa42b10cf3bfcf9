// Elements out of data. Text from the mesh only ever becomes text nodes and attribute values, never markup.

const SVG = "http://www.w3.org/2000/svg";

function make(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child != null && child !== false) element.append(child);
  }
  return element;
}

export const h = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => make(document.createElementNS(SVG, tag), attributes, children);

/// Gives `live` the children of `fresh`, changing only what differs: focus, selections and scroll positions stay.
/// Children with a `data-key` are recognised by it, others by their place.
export function show(live, ...fresh) {
  const focused = document.activeElement;
  children(live, make(document.createDocumentFragment(), null, fresh));
  // A focused element that had to be moved has lost its focus.
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

const keyOf = (node) => node.dataset?.key;
const alike = (one, other) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other);

function children(live, fresh) {
  const wantedKeys = new Set([...fresh.childNodes].map(keyOf));
  const known = new Map();
  for (const child of [...live.childNodes]) {
    if (keyOf(child) == null) continue;
    if (wantedKeys.has(keyOf(child))) known.set(keyOf(child), child);
    else child.remove();
  }
  let at = live.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    let found = known.get(keyOf(wanted)) ?? at;
    if (found && !alike(found, wanted)) found = null;
    if (!found) {
      live.insertBefore(wanted, at);
      continue;
    }
    known.delete(keyOf(wanted));
    if (found === at) at = at.nextSibling;
    else live.insertBefore(found, at);
    update(found, wanted);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function update(live, fresh) {
  if (live.nodeType === Node.TEXT_NODE) {
    if (live.nodeValue !== fresh.nodeValue) live.nodeValue = fresh.nodeValue;
    return;
  }
  // Most rows are as they were, and the browser compares faster than we do.
  if (keyOf(live) != null && live.isEqualNode(fresh)) return;
  for (const { name } of [...live.attributes]) {
    // Whether details are open is for the reader to say.
    if (!fresh.hasAttribute(name) && name !== "open") live.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (live.getAttribute(name) !== value) live.setAttribute(name, value);
  }
  children(live, fresh);
}

/// A table that becomes a list of cards where there is no room for it. The roles are said because CSS takes them away then.
/// Rows are `{ key, cells, bad }`.
export function table(caption, heads, rows) {
  const cell = (content, index) => {
    const attributes = { role: index === 0 ? "rowheader" : "cell", "data-head": heads[index] };
    return index === 0 ? h("th", { scope: "row", ...attributes }, content) : h("td", attributes, h("div", null, content));
  };
  return h("table", { role: "table" },
    h("caption", null, caption),
    h("thead", { role: "rowgroup" },
      h("tr", { role: "row" }, heads.map((head) => h("th", { role: "columnheader", scope: "col" }, head)))),
    h("tbody", { role: "rowgroup" },
      rows.map((row) => h("tr", { role: "row", "data-key": row.key, class: row.bad && "bad-row" }, row.cells.map(cell)))));
}
