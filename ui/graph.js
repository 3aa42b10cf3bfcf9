// The graph: services with their versions, and the calls between them.

import { s } from "./dom.js";
import { layout } from "./layout.js";
import * as words from "./words.js";

const LOCK = "M2 5V3.5a2.5 2.5 0 0 1 5 0V5h1v5H1V5zM3.2 5h2.6V3.5a1.3 1.3 0 0 0-2.6 0z";
const INGRESS = "ingress"; // the gateway's name, as a caller and as what routes are asked of

export const keyOf = (edge) => JSON.stringify([edge.from, edge.to, edge.service]);

/// What the drawing is made of, and what it remembers, so that nothing jumps when a call is not told for a while.
export class Graph {
  #run = null;
  #seen = new Map();
  #shape = "";
  #places = null;

  constructor(drawing) {
    this.drawing = drawing;
  }

  /// Returns what `show` is to put into the drawing.
  draw(view, selected) {
    if (this.#run !== view.started) {
      this.#run = view.started;
      this.#seen.clear();
    }
    for (const { from, to, service } of view.edges) {
      const edge = { from, to, service };
      this.#seen.set(keyOf(edge), { ...edge, key: keyOf(edge) });
    }
    const groups = grouped(view, this.#seen.values());
    const rows = new Set(groups.flatMap((group) => group.rows.map((row) => row.id)));
    const edges = [...this.#seen.values()].filter(({ from, to }) => rows.has(from) && rows.has(to));
    edges.sort((one, other) => (one.key < other.key ? -1 : 1));
    const shape = JSON.stringify([groups.map((group) => [group.id, group.rows.map((row) => row.id)]), edges.map(({ key }) => key)]);
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#places = layout(groups.map(({ id, rows }) => ({ id, rows: rows.map((row) => row.id) })), edges);
      const { width, height } = this.#places;
      this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
      // It may shrink a little to fit; then the box around it scrolls.
      Object.assign(this.drawing.style, { maxWidth: `${width}px`, minWidth: `${width * 0.8}px` });
    }
    return this.#elements(view, groups, selected);
  }

  #elements(view, groups, selected) {
    const { boxes, lines, looseFrom, dense } = this.#places;
    const chosen = new Set(groups.find((group) => group.ask && group.ask === selected)?.rows.map((row) => row.id));
    const isNear = (edge) => chosen.has(edge.from) || chosen.has(edge.to);
    const calls = view.edges.filter((edge) => lines.has(keyOf(edge)));
    // Idle ones below the others, those of the chosen service above them.
    const level = (edge) => (words.isIdle(edge) ? 0 : 1) + (isNear(edge) ? 2 : 0);
    calls.sort((one, other) => level(one) - level(other));
    const drawn = calls.map((edge) => call(edge, lines.get(keyOf(edge)), isNear(edge)));
    const standing = [...groups].sort((one, other) => {
      const [a, b] = [boxes.get(one.id), boxes.get(other.id)];
      return (looseFrom != null && (a.y >= looseFrom) - (b.y >= looseFrom)) || a.x - b.x || a.y - b.y;
    });
    return [
      s("g", { class: dense && chosen.size ? "calls dimmed" : "calls", "aria-hidden": "true", "data-key": "calls" }, drawn),
      looseFrom != null && lines.size > 0 && s("text", { class: "loose", x: 6, y: looseFrom - 12, "data-key": "loose" }, "No calls so far"),
      standing.map((group) => box(group, boxes.get(group.id), group.ask != null && group.ask === selected)),
    ];
  }
}

/// The ingress, the services, and the hosts outside of the mesh that were called.
function grouped(view, seen) {
  const gateway = view.gateway.process;
  const ingress = { id: "ingress", name: "ingress", ask: INGRESS, kind: "gateway",
    rows: [{ id: INGRESS, label: `port ${String(view.ingress).split(":").pop()}`, ready: gateway.state === "ready", state: gateway.state }] };
  const services = new Map();
  for (const one of view.workloads) {
    const group = services.get(one.service) ?? { id: `service ${one.service}`, name: one.service, ask: one.service, kind: "service", rows: [] };
    services.set(one.service, group);
    group.rows.push({ id: one.name, label: one.version || one.name, ready: one.ready, state: one.ready ? "ready" : state(one) });
  }
  for (const { rows } of services.values()) {
    const labels = rows.map((row) => row.label);
    // Two workloads of one version are told apart by their names.
    for (const row of rows) if (labels.filter((label) => label === row.label).length > 1) row.label = row.id;
    rows.sort((one, other) => one.label.localeCompare(other.label, "en", { numeric: true }));
  }
  const known = new Set([INGRESS, ...view.workloads.map((one) => one.name)]);
  const outside = new Map();
  for (const { from, to } of seen) {
    for (const id of [from, to]) {
      if (known.has(id)) continue;
      known.add(id);
      const row = { id, ready: true, state: "" };
      if (services.has(id)) services.get(id).rows.push({ ...row, label: "version not known" });
      else outside.set(id, { id: `outside ${id}`, name: id, ask: null, kind: "outside", rows: [{ ...row, label: "outside the mesh" }] });
    }
  }
  const byId = (groups) => [...groups.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  return [ingress, ...byId(services), ...byId(outside)];
}

/// Why a workload is not ready.
function state({ app, proxy }) {
  if (app.state !== "ready") return app.state;
  return proxy.process.state !== "ready" ? `proxy ${proxy.process.state}` : "not ready";
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function box(group, { x, y, w, h, rows }, isChosen) {
  const lookup = new Map(group.rows.map((row) => [row.id, row]));
  const said = group.rows.map((row) => [row.label, row.state].filter(Boolean).join(" ")).join(", ");
  const asked = group.ask == null
    ? { role: "img", "aria-label": `${group.name}: ${said}` }
    : { role: "button", tabindex: "0", "aria-pressed": String(isChosen), "aria-controls": "routes", "data-service": group.ask,
        "aria-label": `${group.name}: ${said}. Show its routes` };
  const ready = group.rows.every((row) => row.ready);
  const some = group.rows.some((row) => row.ready);
  const classes = ["node", group.kind, !ready && "part", !some && "down", isChosen && "chosen"].filter(Boolean).join(" ");
  return s("g", { class: classes, "data-key": group.id, transform: `translate(${x} ${y})`, ...asked },
    s("title", null, `${group.name}: ${said}`),
    group.ask != null && s("rect", { class: "ring", x: -4, y: -4, width: w + 8, height: h + 8, rx: 9 }),
    s("rect", { class: "frame", width: w, height: h, rx: 6 }),
    s("text", { class: "name", x: 12, y: 19 }, short(group.name, 17)),
    rows.map((place) => version(lookup.get(place.id), place)));
}

function version(row, { down, h, w }) {
  const y = down + h / 2;
  const mark = row.ready || row.state.endsWith("starting")
    ? s("circle", { class: "mark", cx: 17, cy: y, r: 4 })
    : s("path", { class: "mark", d: `M13.5 ${y - 3.5}l7 7m0 -7l-7 7` });
  return s("g", { class: row.ready ? "row" : "row down", "data-key": row.id },
    s("path", { class: "rule", d: `M3 ${down}H${w - 3}` }),
    !row.ready && s("rect", { class: "unready", x: 4, y: down + 4, width: w - 8, height: h - 8, rx: 4 }),
    row.state && mark,
    s("text", { class: "version", x: row.state ? 28 : 12, y: y + 4 }, short(row.label, row.ready ? 17 : Math.max(4, 17 - row.state.length))),
    !row.ready && s("text", { class: "why", x: w - 10, y: y + 4 }, short(row.state, 14)));
}

/// One call: a line, its head, its label.
function call(edge, { path, head, label }, isNear) {
  const idle = words.isIdle(edge);
  const failing = words.isFailing(edge);
  const width = idle ? 1.25 : Math.min(6, 1.25 + 1.3 * Math.log10(1 + edge.rate));
  const classes = ["call", idle && "idle", failing && "failing", isNear && "near"].filter(Boolean).join(" ");
  const part = edge.success == null ? "" : words.percent(edge.success);
  const first = idle ? "idle" : [`${failing ? "✕ " : ""}${words.rate(edge.rate)}`, part].filter(Boolean).join(" · ");
  const up = label.y - 4 - width / 2;
  return s("g", { class: classes, "data-key": keyOf(edge) },
    s("title", null, sentence(edge)),
    s("path", { class: "reach", d: path }),
    s("path", { class: "line", d: path, "stroke-width": width.toFixed(2) }),
    s("polygon", { class: "tip", points: head }),
    edge.mtls && s("path", { class: "lock", d: LOCK, transform: `translate(${label.x} ${up - 9})` }),
    s("text", { class: "label", x: label.x + (edge.mtls ? 13 : 0), y: up }, first),
    label.lines === 2 && !idle && s("text", { class: "label times", x: label.x, y: label.y + 12 + width / 2 }, words.times(edge)));
}

function sentence(edge) {
  const parts = [`${edge.from} calls ${edge.to}`];
  if (edge.service && edge.service !== edge.to) parts[0] += ` (${edge.service})`;
  if (words.isIdle(edge)) parts.push("no calls of late");
  else {
    parts.push(words.rate(edge.rate));
    if (edge.success != null) parts.push(`${words.percent(edge.success)} succeeded`);
    if (edge.p50 != null) parts.push(`p50 ${words.time(edge.p50)}, p90 ${words.time(edge.p90)}, p99 ${words.time(edge.p99)}`);
  }
  parts.push(`${words.count(edge.requests)} so far, ${words.count(edge.failed)} failed`, edge.mtls ? "mutual TLS" : "no mutual TLS");
  return parts.join("; ");
}
