// The tables: calls, proxies, objects.

import { h, table } from "./dom.js";
import * as words from "./words.js";
import { keyOf } from "./graph.js";

const none = () => h("span", { class: "none" }, "–");
const small = (...content) => h("div", { class: "small" }, ...content);
const bad = (...content) => h("span", { class: "bad" }, "✕ ", ...content);
const list = (items) => h("ul", { class: "plain" }, items.map((item) => h("li", null, item)));
const ask = (service) => h("button", { type: "button", class: "link", "data-service": service, "aria-label": `${service}: show its routes` }, service);

export function calls(view) {
  if (!view.edges.length) return h("p", { class: "none" }, "No calls so far.");
  const workloads = new Map(view.workloads.map((one) => [one.name, one]));
  const state = (edge) => {
    if (words.isIdle(edge)) return h("span", { class: "none" }, "none of late");
    return words.isFailing(edge) ? bad("failing") : "well";
  };
  const rows = view.edges.map((edge) => ({
    key: keyOf(edge),
    bad: words.isFailing(edge),
    cells: [
      h("span", { class: "pair" }, edge.from, " → ", edge.to),
      workloads.has(edge.to) ? ask(workloads.get(edge.to).service) : edge.service || none(),
      state(edge),
      words.isIdle(edge) ? none() : words.rate(edge.rate),
      edge.success == null ? none() : words.percent(edge.success),
      [edge.p50, edge.p90, edge.p99].every((one) => one == null) ? none() : [edge.p50, edge.p90, edge.p99].map(words.time).join(" · "),
      edge.mtls ? "mutual" : "no",
      [words.count(edge.requests), edge.failed > 0 && small(`${words.count(edge.failed)} failed`)],
    ],
  }));
  return table("Calls, over the last ten seconds",
    ["From → to", "Service", "Going", "Rate", "Succeeded", "p50 · p90 · p99", "TLS", "So far"], rows);
}

export function proxies(view) {
  const ingress = { name: "ingress", service: null, version: "", ready: view.gateway.process.state === "ready",
    address: view.ingress, ports: [], app: null, proxy: view.gateway };
  const rows = [ingress, ...view.workloads].map((one) => ({
    key: one.name,
    bad: isBad(one, view.now),
    cells: [
      [one.name, one.service ? [small("service ", ask(one.service)), one.version && small(`version ${one.version}`)] : small("the gateway")],
      ready(one),
      identity(one.proxy, view.now),
      sync(one.proxy.sync, !one.ready && isStarting(one)),
      [words.memory(one.proxy.process.memory), small(counted(one.proxy))],
      where(one),
      ends(one),
    ],
  }));
  return table("Every proxy of the mesh",
    ["Workload", "State", "Identity, certificate", "Configuration", "Envoy", "Address, ports", "Restarts, last end"], rows);
}

const isStarting = ({ app, proxy }) => [app, proxy.process].every((process) => !process || ["ready", "starting"].includes(process.state));

function isBad(one, now) {
  const { sync, certificateUntil } = one.proxy;
  if (!one.ready) return !isStarting(one);
  return !sync.connected || sync.types.some((type) => type.state === "refused") || (certificateUntil > 0 && certificateUntil <= now);
}

function ready(one) {
  if (one.ready) return h("span", { class: "good" }, "● ready");
  const { app, proxy } = one;
  const processes = small(`Envoy ${proxy.process.state}`, app && `, app ${app.state}`);
  return isStarting(one) ? [h("span", { class: "warn" }, "○ starting"), processes] : [bad("not ready"), processes];
}

function identity(proxy, now) {
  const left = proxy.certificateUntil - now;
  let certificate = "no certificate yet";
  if (proxy.certificateUntil > 0) certificate = left > 0 ? `certificate for ${words.duration(left)} more` : bad(`certificate expired ${words.duration(-left)} ago`);
  return [proxy.identity ? h("span", { class: "long" }, breakable(proxy.identity)) : none(), small(certificate)];
}

/// May go on in a new line after each `/`.
const breakable = (text) => text.split(/(?<=\/)(?=[^/])/).map((part, index) => [index > 0 && h("wbr"), part]);

function sync({ connected, types }, starting) {
  const synced = types.filter((type) => type.state === "synced").map((type) => type.name);
  const others = types.filter((type) => type.state !== "synced").map((type) => {
    const said = `${type.name} ${type.state}`;
    return [type.state === "refused" ? bad(said) : said, type.error && h("div", { class: "said" }, type.error)];
  });
  return [
    !connected && (starting ? "not connected yet" : bad("not connected")),
    others.length > 0 && list(others),
    synced.length > 0 && (others.length || !connected ? small(`synced: ${synced.join(", ")}`) : ["synced", small(synced.join(", "))]),
    connected && !types.length && "nothing asked for yet",
  ];
}

function where({ address, ports, httpProxy }) {
  const each = ports.map((port) => [
    `${port.name || port.protocol} ${port.service}`,
    port.protocol && port.protocol !== port.name && ` (${port.protocol})`,
    port.moved && h("span", { class: "warn" }, ` moved to ${port.inbound}, as ${port.service} is root’s,`),
    ` → app ${port.app}`,
  ]);
  return [address, small(list([...each, httpProxy && `calls out through ${httpProxy}`].filter(Boolean)))];
}

/// Of its calls out.
function counted({ handshakes, failed, faults }) {
  return list([
    words.plural(handshakes, "TLS handshake"),
    failed > 0 && [`${words.plural(failed, "call")} failed`, faults > 0 && `, ${failed > faults ? words.count(faults) : "all"} by faults in routes`],
  ].filter(Boolean));
}

/// How often Envoy and the process were started again, and why.
function ends({ app, proxy }) {
  const of = [["Envoy", proxy.process], ["app", app]].filter(([, process]) => process?.restarts > 0 || process?.lastEnd);
  if (!of.length) return ["0", small("never ended")];
  return list(of.map(([what, process]) => [`${what}: ${words.count(process.restarts)}`, process.lastEnd && small(process.lastEnd), saying(process)]));
}

function saying({ said }) {
  return said.length > 0 && h("details", null, h("summary", null, "what it said"), h("pre", { class: "said", tabindex: "0" }, said.join("\n")));
}

/// One line on the control plane.
export function controlPlane({ controlPlane: process }, now) {
  const facts = [
    process.state,
    process.pid != null && `process ${process.pid}`,
    process.since != null && `for ${words.duration(now - process.since)}`,
    process.memory != null && words.memory(process.memory),
    words.plural(process.restarts, "restart"),
    process.lastEnd && `ended last: ${process.lastEnd}`,
  ].filter(Boolean);
  const line = `Control plane: ${facts.join(", ")}.`;
  return [process.state === "ready" ? line : bad(line), saying(process)];
}

export function problems(view) {
  if (!view.problems.length) return [];
  return h("div", { class: "box bad-box", role: "group", "aria-labelledby": "problems-title" },
    h("h3", { id: "problems-title" }, `✕ ${words.plural(view.problems.length, "problem")} in files`),
    h("ul", { class: "places" }, view.problems.map((problem) => h("li", null, place(problem)))));
}

/// `file:line:col: sentence`, the place apart.
function place(problem) {
  const found = /^(.+?:\d+(?::\d+)?): ([^]*)$/.exec(problem);
  return found ? [h("code", null, found[1]), " ", found[2]] : problem;
}

const isWrong = (object) => object.state !== "in effect" || object.problems.length > 0;

/// What is wrong with files and objects, in a few words; nothing if all is well.
export function wrong(view) {
  const objects = view.objects.filter(isWrong).length;
  return [
    view.problems.length && `${words.plural(view.problems.length, "problem")} in files`,
    objects && `${words.plural(objects, "object")} with problems`,
  ].filter(Boolean).join(", ");
}

export function objects(view) {
  if (!view.objects.length) return h("p", { class: "none" }, "None. A file of Istio’s objects that is put into ", h("code", null, String(view.objectsFolder)), " takes effect at once.");
  const state = ({ state, problems }) => {
    if (state === "refused") return bad("refused: the last good one holds, if there was one");
    if (problems.length) return bad(state === "problem" ? "" : `${state}, with `, words.plural(problems.length, "problem"));
    return state === "in effect" ? h("span", { class: "good" }, "● in effect") : state;
  };
  const rows = view.objects.map((object) => ({
    key: `${object.kind}/${object.namespace}/${object.name}`,
    bad: isWrong(object),
    cells: [object.name, object.kind, object.namespace || none(), state(object), object.problems.length ? list(object.problems) : "none"],
  }));
  return table("Istio’s objects of this mesh", ["Name", "Kind", "Namespace", "State", "Problems"], rows);
}
