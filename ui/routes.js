// The routes to a service, as those who call it have them.

import { h, s } from "./dom.js";

export async function ask(service) {
  const answer = await fetch(`/api/routes?service=${encodeURIComponent(service)}`, { signal: AbortSignal.timeout(5000) });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error || `The mesh answers with status ${answer.status}.`);
  return body;
}

export function routes({ seenBy, virtualHosts }) {
  const seen = h("p", { class: "note" }, "As ", h("strong", null, seenBy), " sees them. The first rule that matches is taken.");
  if (!virtualHosts.length) return [seen, h("p", { class: "none" }, "None.")];
  return [seen, virtualHosts.map(host)];
}

function host({ name, domains, rules }) {
  return h("article", { class: "host", "data-key": name },
    h("h3", null, name),
    domains.length > 0 && h("p", { class: "note" }, "Called as ", domains.map((domain, index) => [index > 0 && ", ", h("code", null, domain)])),
    rules.length ? h("ol", { class: "rules" }, rules.map(rule)) : h("p", { class: "none" }, "No rules: every call is answered 404."));
}

function rule({ name, when, to, does, from }) {
  return h("li", null, h("div", { class: "body" },
    h("div", { class: "when" },
      name && h("strong", { class: "rule-name" }, name),
      when.length ? when.map((one, index) => [h("span", { class: "part" }, h("span", { class: "word" }, index ? "and " : "if "), one), " "]) : h("span", { class: "part" }, "always")),
    h("div", { class: "then" },
      destinations(to),
      does.length > 0 && h("ul", { class: "does" }, does.map((one) => h("li", null, one)))),
    h("div", { class: "source" }, from ?? "no object: the default route")));
}

function destinations(to) {
  if (!to.length) return null;
  const all = to.reduce((sum, { weight }) => sum + (weight ?? 0), 0);
  return h("ul", { class: "to" }, to.map(({ service, subset, port, weight }) => {
    const share = to.length > 1 && all > 0 && weight != null ? weight / all : null;
    return h("li", { class: share === 0 && "none" },
      h("span", { class: "arrow", "aria-hidden": "true" }, "→ "),
      h("strong", null, service),
      subset && [" ", h("span", { class: "subset" }, subset)],
      port > 0 && h("span", { class: "port" }, ` :${port}`),
      share != null && [h("span", { class: "weight" }, ` ${Math.round(share * 1000) / 10} % `), bar(share)]);
  }));
}

const bar = (share) => s("svg", { class: "bar", viewBox: "0 0 80 8", width: 80, height: 8, "aria-hidden": "true" },
  s("rect", { class: "whole", width: 80, height: 8, rx: 2 }),
  s("rect", { class: "share", width: 80 * share, height: 8, rx: 2 }));
