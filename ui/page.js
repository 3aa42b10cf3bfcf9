// The page of `mizzen up`: asks the mesh once a second and shows what it says.

import { h, show } from "./dom.js";
import { Graph } from "./graph.js";
import * as routes from "./routes.js";
import * as tables from "./tables.js";
import * as words from "./words.js";

const EVERY = 1000;
const ROUTES_EVERY = 3000;
const at = (id) => document.getElementById(id);

const graph = new Graph(at("drawing"));
const narrow = matchMedia("(max-width: 700px)");
const page = {
  view: null,
  seen: null, // when the mesh answered last
  silent: null, // why it does not answer
  calls: null, // "graph" or "table", once somebody has chosen
  selected: new URLSearchParams(location.search).get("service") ?? "",
  routes: null, // { service, answer } or { service, error }
  routesAsked: 0,
};

// Asking

let timer = null;
let asking = false;

async function ask() {
  clearTimeout(timer);
  if (asking || document.hidden) return;
  asking = true;
  try {
    const answer = await fetch("/api/view", { signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(`it answers with status ${answer.status}`);
    page.view = await answer.json();
    page.seen = Date.now();
    page.silent = null;
  } catch (error) {
    page.silent = error;
  }
  asking = false;
  timer = setTimeout(ask, EVERY); // before anything that could fail
  render();
  if (!page.silent && Date.now() - page.routesAsked >= ROUTES_EVERY) askRoutes();
}

async function askRoutes() {
  const service = page.selected;
  if (!service) return;
  page.routesAsked = Date.now();
  let found;
  try {
    found = { service, answer: await routes.ask(service) };
  } catch (error) {
    // What is shown already is better than that the mesh is gone, which the top says.
    if (page.silent && page.routes?.answer) return;
    found = { service, error: error.message };
  }
  if (service !== page.selected) return;
  page.routes = found;
  renderRoutes();
}

function select(service) {
  page.selected = service;
  page.routes = null;
  history.replaceState(null, "", (service ? `?service=${encodeURIComponent(service)}` : location.pathname) + location.hash);
  render();
  askRoutes();
}

// Showing

function render() {
  renderState();
  const { view } = page;
  if (!view) return;
  renderFacts(view);
  renderCalls(view);
  renderRoutes();
  show(at("control-plane"), tables.controlPlane(view, view.now));
  show(at("proxy-table"), tables.proxies(view));
  show(at("problems"), tables.problems(view));
  show(at("object-table"), tables.objects(view));
  if (document.querySelector("main").hidden) {
    document.querySelector("main").hidden = false;
    // Only now there is something to go to.
    at(location.hash.slice(1))?.scrollIntoView();
  }
}

function renderState() {
  const { view, silent } = page;
  let state = "waiting";
  let said = "Asking the mesh …";
  let seen = "";
  if (silent) {
    state = "silent";
    said = "The mesh is not answering";
    // Apart from what is read aloud: it changes every second.
    seen = page.seen ? `last seen ${words.duration((Date.now() - page.seen) / 1000)} ago` : "since this page was opened";
  } else if (view) {
    const ready = view.workloads.filter((one) => one.ready).length;
    const lacking = [
      view.controlPlane.state !== "ready" && `control plane ${view.controlPlane.state}`,
      view.gateway.process.state !== "ready" && `ingress ${view.gateway.process.state}`,
      ready < view.workloads.length && `${ready} of ${words.plural(view.workloads.length, "workload")} ready`,
    ].filter(Boolean);
    state = !view.ready ? "starting" : lacking.length ? "partly" : "ready";
    said = [{ starting: "Starting", partly: "Not all is ready", ready: "Ready" }[state], lacking.join(", ")].filter(Boolean).join(": ");
  }
  document.documentElement.dataset.state = state;
  if (at("state").textContent !== said) at("state").textContent = said;
  at("seen").textContent = seen;
  document.title = silent ? "Mizzen: not answering" : view && tables.wrong(view) ? `Mizzen: ${tables.wrong(view)}` : "Mizzen";
}

function renderFacts(view) {
  const [, host, port] = /^(.*):(\d+)$/.exec(view.ingress) ?? [];
  const reached = ["0.0.0.0", "[::]"].includes(host) ? `${location.hostname}:${port}` : view.ingress;
  const facts = [
    ["Ingress", h("a", { href: `http://${reached}/` }, `http://${reached}/`)],
    ["Objects", h("code", null, String(view.objectsFolder))],
    ["Version", view.version],
    ["Envoy", view.envoy],
    ["Capture", view.capture],
    ["Up", h("span", { class: "number" }, words.duration(view.now - view.started))],
  ];
  show(at("facts"), facts.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
  show(at("proxy-count"), String(view.workloads.length + 1));
  const wrong = tables.wrong(view);
  show(at("object-count"), String(view.objects.length), wrong && h("span", { class: "bad" }, ` ✕ ${wrong}`));
}

function renderCalls(view) {
  const shown = page.calls ?? (narrow.matches ? "table" : "graph");
  for (const button of document.querySelectorAll("[data-calls]")) button.setAttribute("aria-pressed", String(button.dataset.calls === shown));
  at("graph-box").hidden = shown !== "graph";
  at("graph-key").hidden = shown !== "graph" || !view.edges.length;
  at("calls").hidden = shown !== "table";
  let note = "";
  if (!view.workloads.length) note = "There are no services in this mesh yet: mesh.yaml says which there are.";
  else if (!view.edges.length) note = "No calls so far. The first one through the ingress shows up here.";
  else if (shown === "graph") note = "Choose a service for its routes.";
  show(at("graph-note"), note);
  if (shown === "graph") show(at("drawing"), graph.draw(view, page.selected));
  else show(at("calls"), tables.calls(view));
}

function renderRoutes() {
  const services = [...new Set(page.view?.workloads.map((one) => one.service))].sort();
  const names = page.view ? ["ingress", ...services.filter((one) => one !== "ingress")] : [];
  if (page.selected && !names.includes(page.selected)) names.push(page.selected);
  show(at("service"), h("option", { value: "", "data-key": "" }, "choose a service"),
    names.map((name) => h("option", { value: name, "data-key": `service ${name}` }, name)));
  if (at("service").value !== page.selected) at("service").value = page.selected;
  const { service, answer, error } = page.routes ?? {};
  if (!page.selected) show(at("rules"), h("p", { class: "none" }, "Choose a service, here or in the graph."));
  else if (service !== page.selected) show(at("rules"), h("p", { class: "none" }, "Asking …"));
  else if (error) show(at("rules"), h("p", { class: "box bad-box" }, "✕ ", error));
  else show(at("rules"), routes.routes(answer));
}

// Choosing

function chosen(target) {
  const { service, calls } = target.closest?.("[data-service], [data-calls]")?.dataset ?? {};
  if (calls) {
    page.calls = calls;
    render();
  } else if (service != null) {
    select(service);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    at("routes").scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  }
}

document.addEventListener("click", (event) => chosen(event.target));
document.addEventListener("keydown", (event) => {
  // A button of HTML does that by itself; one of SVG does not.
  if ((event.key === "Enter" || event.key === " ") && event.target.closest?.("g[data-service]")) {
    event.preventDefault();
    chosen(event.target);
  }
});
at("service").addEventListener("change", (event) => select(event.target.value));
document.addEventListener("visibilitychange", ask);
narrow.addEventListener("change", render);
setInterval(() => page.silent && renderState(), EVERY);
ask();
