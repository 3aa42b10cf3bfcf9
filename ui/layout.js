// Where everything stands in the graph. No browser in here: groups and edges in, numbers out, the same for the same input.
//
// A group is a service, its rows are the service's workloads. Groups stand in columns by their distance from the ingress; within a
// column they are near to whom they talk with. Calls come in at the left; those from the same column or from the right come
// in at the right, where the column then has a lane for their labels. Every call has a line of its own where it comes in.

const WIDE = 146; // a group
const GAP = 206; // between columns, without the lane
const LANE = 104; // right of a column that has calls coming in there
const STRAIGHT = 136; // the last part of a call, where its label is
const TITLE = 28; // a group's name
const ROW = 34; // a workload, at least
const BETWEEN = 26; // groups of one column
const MARGIN = 6; // a ring around what has the focus
const OUT = 8; // between calls that go out
const BACK = 10; // between calls that go out at the left
const ONE_LINE = 18; // between calls whose label is one line
const TWO_LINES = 33;
const HEAD = 8; // of an arrow
const MANY = 60; // with more calls than that all labels have one line
const TALL = 1000; // from there on every column begins at the top, so that the ingress is in sight
const LEAST = 4 * WIDE + 3 * GAP; // what a group without calls may use of the width

/// `groups`: `{ id, rows: [id] }`, the ingress first; `edges`: `{ key, from, to }` between rows.
export function layout(groups, edges) {
  const dense = edges.length > MANY;
  const groupOf = new Map(groups.flatMap((group) => group.rows.map((row) => [row, group.id])));
  const links = edges.map((edge) => ({ ...edge, a: groupOf.get(edge.from), b: groupOf.get(edge.to) }));
  const column = columns(groups, links);
  const boxes = new Map();
  const rows = new Map();
  for (const group of groups) measure(group, links, column, dense, boxes, rows);

  const stood = [];
  for (const [id, at] of column) (stood[at] ??= []).push(boxes.get(id));
  for (let at = 0; at < stood.length; at++) stood[at] ??= [];
  stand(stood, links, boxes, rows);

  const lanes = stood.map((boxes) => (boxes.some((box) => box.right) ? LANE : 0));
  let height = 0;
  let width = WIDE;
  for (const box of boxes.values()) {
    if (!column.has(box.id)) continue;
    const at = column.get(box.id);
    box.x = MARGIN + at * (WIDE + GAP) + lanes.slice(0, at).reduce((sum, lane) => sum + lane, 0);
    box.lane = lanes[at];
    height = Math.max(height, box.y + box.h);
    width = Math.max(width, box.x + WIDE + (lanes[at] && lanes[at] + GAP - STRAIGHT));
  }
  const loose = groups.filter((group) => !column.has(group.id)).map((group) => boxes.get(group.id));
  const looseFrom = loose.length ? height + (links.length ? 44 : BETWEEN) : null;
  if (loose.length) [width, height] = shelve(loose, looseFrom, width);
  for (const box of boxes.values()) {
    for (const row of box.rows) Object.assign(row, { x: box.x, y: box.y + row.down, lane: box.lane });
  }
  const lines = route(links, column, rows, dense);
  return { width: width + MARGIN, height: height + MARGIN, boxes, rows, lines, looseFrom, dense };
}

/// Columns of those groups that have any calls.
function columns(groups, links) {
  const targets = new Map(groups.map((group) => [group.id, []]));
  const called = new Set();
  const talks = new Set();
  for (const { a, b } of links) {
    talks.add(a).add(b);
    if (a === b) continue;
    targets.get(a).push(b);
    called.add(b);
  }
  const column = new Map();
  const spread = (start, at) => {
    column.set(start, at);
    const queue = [start];
    for (const id of queue) {
      for (const next of targets.get(id)) {
        if (column.has(next)) continue;
        column.set(next, column.get(id) + 1);
        queue.push(next);
      }
    }
  };
  if (groups.length) spread(groups[0].id, 0);
  // Those that the ingress does not reach: first whom nobody calls, then rings.
  const rest = groups.filter((group) => talks.has(group.id));
  for (const group of [...rest.filter(({ id }) => !called.has(id)), ...rest]) {
    if (column.has(group.id)) continue;
    const known = targets.get(group.id).filter((id) => column.has(id)).map((id) => column.get(id) - 1);
    spread(group.id, Math.max(1, known.length ? Math.min(...known) : 1));
  }
  return column;
}

/// How a call runs: `right` into the next columns, `back` to a former one, or `same`.
function way(link, column) {
  const step = column.get(link.b) - column.get(link.a);
  return step > 0 ? "right" : step < 0 ? "back" : "same";
}

function measure(group, links, column, dense, boxes, rows) {
  const box = { id: group.id, x: 0, y: 0, w: WIDE, h: TITLE, rows: [], right: false, lane: 0 };
  for (const id of group.rows) {
    const into = links.filter((link) => link.to === id);
    const left = into.filter((link) => way(link, column) === "right").length;
    const right = into.length - left;
    const going = links.filter((link) => link.from === id);
    const backs = going.filter((link) => way(link, column) === "back").length;
    const outs = going.length - backs;
    const h = Math.max(ROW, left * (dense ? ONE_LINE : TWO_LINES) + backs * BACK + 4, outs * OUT + right * ONE_LINE + 10);
    const row = { id, x: 0, y: 0, w: WIDE, h, down: box.h };
    box.h += h;
    box.right ||= right > 0;
    box.rows.push(row);
    rows.set(id, row);
  }
  boxes.set(group.id, box);
}

/// Orders each column and gives its boxes their `y`: sweeps to the right and back, each box to the middle of its neighbours.
function stand(stood, links, boxes, rows) {
  const middle = (box, row) => box.y + row.down + row.h / 2;
  const neighbours = new Map([...boxes.keys()].map((id) => [id, []]));
  for (const { a, b, from, to } of links) {
    if (a === b) continue;
    neighbours.get(a).push({ own: rows.get(from), box: boxes.get(b), row: rows.get(to) });
    neighbours.get(b).push({ own: rows.get(to), box: boxes.get(a), row: rows.get(from) });
  }
  const at = new Map(stood.flatMap((boxes, index) => boxes.map((box) => [box.id, index])));
  for (const boxes of stood) pack(boxes, boxes.map((box) => box.h / 2));
  for (let sweep = 0; sweep < 8; sweep++) {
    const forth = sweep % 2 === 0;
    const order = forth ? stood.keys() : [...stood.keys()].reverse();
    for (const index of order) {
      const wants = new Map();
      for (const box of stood[index]) {
        const near = neighbours.get(box.id).filter((one) => (forth ? at.get(one.box.id) < index : at.get(one.box.id) > index));
        const pull = near.map((one) => middle(one.box, one.row) - one.own.down - one.own.h / 2);
        const y = pull.length ? pull.reduce((sum, one) => sum + one, 0) / pull.length : box.y;
        wants.set(box, y + box.h / 2);
      }
      stood[index].sort((one, other) => wants.get(one) - wants.get(other) || (one.id < other.id ? -1 : 1));
      pack(stood[index], stood[index].map((box) => wants.get(box)));
    }
  }
  const top = Math.min(...stood.flat().map((box) => box.y));
  if (Math.max(...stood.flat().map((box) => box.y + box.h)) - top > TALL) {
    for (const boxes of stood) {
      let y = top;
      for (const box of boxes) y = (box.y = y) + box.h + BETWEEN;
    }
  }
  for (const box of stood.flat()) box.y = Math.round(box.y - top) + MARGIN;
}

/// Boxes in their order, none over another, on average where they want their middles.
function pack(boxes, wants) {
  let free = -Infinity;
  let off = 0;
  boxes.forEach((box, index) => {
    box.y = Math.max(wants[index] - box.h / 2, free);
    free = box.y + box.h + BETWEEN;
    off += wants[index] - box.h / 2 - box.y;
  });
  for (const box of boxes) box.y += off / boxes.length;
}

/// Groups without calls, as on shelves below the others. Returns the size of everything.
function shelve(boxes, top, width) {
  const perShelf = Math.max(1, Math.floor((Math.max(width, LEAST) + 24) / (WIDE + 24)));
  let y = top;
  for (let first = 0; first < boxes.length; first += perShelf) {
    const shelf = boxes.slice(first, first + perShelf);
    shelf.forEach((box, index) => Object.assign(box, { x: MARGIN + index * (WIDE + 24), y }));
    y += Math.max(...shelf.map((box) => box.h)) + BETWEEN;
  }
  return [Math.max(width, MARGIN + Math.min(boxes.length, perShelf) * (WIDE + 24) - 24), y - BETWEEN];
}

/// A path, an arrow's head and the label's place for each call.
function route(links, column, rows, dense) {
  const { starts, ends } = ports(links, column, rows, dense);
  const lines = new Map();
  for (const link of links) {
    const from = rows.get(link.from);
    const to = rows.get(link.to);
    const y1 = starts.get(link.key);
    const y2 = ends.get(link.key);
    const out = from.x + from.w + from.lane;
    if (way(link, column) === "right") {
      const bend = to.x - STRAIGHT;
      const half = (out + bend) / 2;
      lines.set(link.key, {
        path: `M${from.x + from.w} ${y1}H${out}C${half} ${y1} ${half} ${y2} ${bend} ${y2}H${to.x - HEAD + 1}`,
        head: `${to.x},${y2} ${to.x - HEAD},${y2 - 4.5} ${to.x - HEAD},${y2 + 4.5}`,
        label: { x: bend + 6, y: y2, lines: dense ? 1 : 2 },
      });
      continue;
    }
    const edge = to.x + to.w;
    const bend = edge + to.lane;
    let path = `M${from.x} ${y1}H${from.x - STRAIGHT}C${(from.x - STRAIGHT + bend) / 2} ${y1} ${(from.x - STRAIGHT + bend) / 2} ${y2} ${bend} ${y2}`;
    if (way(link, column) === "same") {
      // The farther, the wider; what crosses is told apart so.
      const wide = bend + Math.min(84, 24 + Math.abs(y2 - y1) / 5);
      path = `M${from.x + from.w} ${y1}H${out}C${wide} ${y1} ${wide} ${y2} ${bend} ${y2}`;
    }
    lines.set(link.key, {
      path: `${path}H${edge + HEAD - 1}`,
      head: `${edge},${y2} ${edge + HEAD},${y2 - 4.5} ${edge + HEAD},${y2 + 4.5}`,
      label: { x: edge + 12, y: y2, lines: 1 },
    });
  }
  return lines;
}

/// At which height each call starts and ends.
function ports(links, column, rows, dense) {
  const middle = (id) => rows.get(id).y + rows.get(id).h / 2;
  const by = (end) => (one, other) => middle(one[end]) - middle(other[end]);
  const step = dense ? ONE_LINE : TWO_LINES;
  const starts = new Map();
  const ends = new Map();
  for (const row of rows.values()) {
    const going = links.filter((link) => link.from === row.id).sort(by("to"));
    const coming = links.filter((link) => link.to === row.id).sort(by("from"));
    const outs = going.filter((link) => way(link, column) !== "back");
    const backs = going.filter((link) => way(link, column) === "back");
    const left = coming.filter((link) => way(link, column) === "right");
    const right = coming.filter((link) => way(link, column) !== "right");
    let y = row.y + (row.h - left.length * step - backs.length * BACK) / 2;
    for (const link of left) ends.set(link.key, (y += step) - step / 2 + (dense ? 4 : 0));
    for (const link of backs) starts.set(link.key, (y += BACK) - BACK / 2);
    y = row.y + (row.h - outs.length * OUT - right.length * ONE_LINE) / 2;
    for (const link of outs) starts.set(link.key, (y += OUT) - OUT / 2);
    for (const link of right) ends.set(link.key, (y += ONE_LINE) - 4);
  }
  return { starts, ends };
}
