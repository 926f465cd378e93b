"use strict";

// Creates elements of HTML and SVG. Text is never parsed as markup.
function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value);
    }
  }
  node.append(...present(children));
  return node;
}

// The children that exist, without nested arrays.
function present(children) {
  return children.flat(Infinity)
    .filter(child => child !== null && child !== undefined && child !== false && child !== "");
}

function put(node, ...children) {
  node.replaceChildren(...present(children));
}

// Text between backticks becomes code.
function prose(text) {
  return text.split("`").map((part, i) => i % 2 === 1 ? element("code", {}, part) : part);
}

function clipped(text, length) {
  const characters = Array.from(String(text));
  return characters.length <= length ? String(text) : `${characters.slice(0, length - 1).join("")}…`;
}

// A drawing with its size and a label for screen readers.
function drawing(width, height, title, ...children) {
  return shape("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title,
    xmlns: "http://www.w3.org/2000/svg",
  }, shape("defs", {}, ["ink", "fail", "t0", "t1", "t2", "t3"].map(arrowHead),
    shape("pattern", {
      id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    }, shape("path", { d: "M0 0V6", class: "hatch" }))), ...children);
}

function arrowHead(color) {
  return shape("marker", {
    id: `head-${color}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7,
    orient: "auto-start-reverse",
  }, shape("path", { d: "M0 0L10 5L0 10Z", class: `fill-${color}` }));
}

function arrow(from, to, color, options = {}) {
  const [x1, y1] = from;
  const [x2, y2] = to;
  const bend = options.bend || 0;
  const middle = [(x1 + x2) / 2 - bend * (y2 - y1), (y1 + y2) / 2 + bend * (x2 - x1)];
  return shape("path", {
    d: `M${x1} ${y1}Q${middle[0]} ${middle[1]} ${x2} ${y2}`,
    class: `arrow stroke-${color}${options.dashed ? " dashed" : ""}`,
    "marker-end": options.plain ? null : `url(#head-${color})`,
  }, options.title ? shape("title", {}, options.title) : null);
}

function label(x, y, text, attributes = {}) {
  return shape("text", { x, y, ...attributes }, text);
}

function box(x, y, width, height, className) {
  return shape("rect", { x, y, width, height, rx: 6, class: `box ${className}` });
}

// The sign of a state: a cross if every interleaving from there fails, a disk if none does, a ring
// otherwise. The shapes differ, so the sign does not depend on color.
function sign(x, y, fate, size = 6) {
  if (fate === "fails") {
    return shape("path", {
      d: `M${x - size} ${y - size}L${x + size} ${y + size}M${x - size} ${y + size}L${x + size} ${y - size}`,
      class: "sign fails",
    });
  }
  return shape("circle", { cx: x, cy: y, r: fate === "survives" ? size : size - 1, class: `sign ${fate}` });
}

const fateWords = {
  fails: "every interleaving from here fails", survives: "no interleaving from here fails",
  mixed: "some interleavings from here fail",
};

// The objects of a scenario after the steps taken: threads, locks, fields and notes.
//
// - isOpen: whether the drawing may say that a thread waits forever.
function objectsDrawing(path, width, isOpen = true) {
  const race = path.race;
  const isNarrow = width < 430;
  const states = path.states();
  const state = states[states.length - 1];
  const held = path.locks();
  const count = race.threads.length;
  const boxWidth = isNarrow ? Math.min(150, (width - 12 * (count - 1)) / count) : Math.min(168, width * 0.34);
  // The buttons beside a narrow drawing say what each thread does: it shows threads only for their locks.
  const isBrief = isNarrow && race.labels.every(label => label.locks === 0);
  const boxHeight = isNarrow ? 30 : 54;
  const rowHeight = isNarrow ? 28 : 34;
  const baseline = rowHeight / 2 + 2;
  const threadAt = i => isNarrow
    ? { x: i * (boxWidth + 12), y: 4 } : { x: 4, y: 4 + i * (boxHeight + 44) };
  const hasLocks = held.some(locks => locks.length > 0);
  const threadsEnd = isNarrow && !isBrief ? boxHeight + (hasLocks ? 44 : 8) : 0;
  const fieldsX = isNarrow ? 4 : Math.min(320, width * 0.34 + 96);
  const fieldsWidth = width - fieldsX - 4;
  const parts = [];
  const arrows = [];
  const centers = {};

  race.columns.forEach((column, i) => {
    const y = threadsEnd + 28 + i * rowHeight;
    const isChanged = state.changed.includes(i) && path.length > 0;
    parts.push(
      box(fieldsX, y, fieldsWidth, rowHeight - 6, isChanged ? "changed" : "field"),
      label(fieldsX + 10, y + baseline, clipped(column, 16), { class: "small" }));
    const value = state.values[i] || "";
    const amount = /^\d$/.test(value) && /s$/.test(column) ? Number(value) : -1;
    const valueX = fieldsX + Math.min(110, fieldsWidth * 0.42);
    if (amount >= 0) {
      for (let n = 0; n < amount; n += 1) {
        parts.push(box(valueX + n * 22, y + baseline - 14, 18, 18, "item"));
      }
      if (amount === 0) parts.push(label(valueX, y + baseline, "none", { class: "quiet" }));
    } else {
      const room = Math.floor((fieldsX + fieldsWidth - valueX - 8) / 8.2);
      const was = isChanged ? `was ${state.before[i]}` : null;
      parts.push(shape("text", { x: valueX, y: y + baseline, class: "value" }, clipped(value, room),
        shape("title", {}, was ? `${value}; ${was}` : value)));
    }
    centers[column] = [fieldsX, y + (rowHeight - 6) / 2];
  });
  const title = race.columns.length === 0 ? ""
    : state.isLocked ? "state as last seen, locked now" : "state";
  parts.push(label(fieldsX, threadsEnd + 18, clipped(title, Math.floor(fieldsWidth / 7)), { class: "quiet" }));
  let bottom = threadsEnd + 34 + race.columns.length * rowHeight;

  const notes = path.edges.filter(edge => edge.label.kind === "note").map(edge => edge.label);
  if (notes.length > 0) {
    parts.push(label(fieldsX, bottom + 14, "what was called", { class: "quiet" }));
    notes.forEach((note, i) => {
      const y = bottom + 22 + i * 26;
      parts.push(box(fieldsX, y, fieldsWidth, 22, `note-${note.thread % 4}`),
        label(fieldsX + 10, y + 16, clipped(`» ${note.text}`, Math.floor(fieldsWidth / 8)), { class: "small" }));
    });
    bottom += 26 + notes.length * 26;
  }

  // Locks that are held are drawn between the threads and the state.
  const lockPlaces = new Map();
  held.forEach((locks, thread) => locks.forEach((lock, n) => {
    const at = threadAt(thread);
    const place = isNarrow
      ? [at.x + boxWidth / 2, boxHeight + 26] : [boxWidth + 56, at.y + boxHeight / 2 + 6 + n * 42 - (locks.length - 1) * 21];
    lockPlaces.set(`${thread}.${lock.number}`, place);
    parts.push(shape("g", { class: `lock stroke-t${thread % 4}` },
      shape("rect", { x: place[0] - 11, y: place[1] - 6, width: 22, height: 16, rx: 3, class: `fill-t${thread % 4}` }),
      shape("path", { d: `M${place[0] - 6} ${place[1] - 6}v-5a6 6 0 0 1 12 0v5` }),
      shape("title", {}, `lock taken in step ${lock.step + 1}`)));
    arrows.push(isNarrow
      ? arrow([at.x + boxWidth / 2, boxHeight + 4], [place[0], place[1] - 14], `t${thread % 4}`, { plain: true })
      : arrow([at.x + boxWidth, at.y + boxHeight / 2], [place[0] - 12, place[1]], `t${thread % 4}`, { title: "holds" }));
  }));

  race.threads.forEach((name, thread) => {
    if (isBrief) return;
    const { x, y } = threadAt(thread);
    const wait = path.waiting(thread);
    const next = race.next(path.node, thread);
    const status = wait ? (wait.isForEver && isOpen ? "waits forever" : wait.holder >= 0 ? "waits for the lock" : "waits")
      : next ? phrase(race, next) : "done";
    parts.push(box(x, y, boxWidth, boxHeight, `thread t${thread % 4}${wait && wait.isForEver && isOpen ? " stuck" : ""}`),
      shape("rect", { x, y, width: 6, height: boxHeight, rx: 3, class: `fill-t${thread % 4}` }),
      label(x + 14, y + (isNarrow ? 20 : 22), clipped(`${race.letters[thread]} · ${name}`, Math.floor(boxWidth / 8.4)), { class: `name fill-t${thread % 4}` }),
      isNarrow ? null : label(x + 14, y + 42, clipped(status, Math.floor(boxWidth / 7.4)), { class: "small" }));
    if (wait && wait.holder >= 0) {
      const place = lockPlaces.get(`${wait.holder}.${wait.taken}`);
      if (place) {
        const from = isNarrow ? [x + boxWidth / 2, y + boxHeight + 2] : [x + boxWidth, y + boxHeight / 2 + 8];
        const to = isNarrow ? [place[0], place[1] + 12] : [place[0] - 6, place[1] + (place[1] < from[1] ? 13 : -15)];
        arrows.push(arrow(from, to, wait.isForEver && isOpen ? "fail" : `t${thread % 4}`,
          { dashed: true, bend: wait.holder === thread ? 0.5 : 0.12, title: "waits for" }));
      }
    } else if (next && !isNarrow && centers[next.name]) {
      arrows.push(arrow([x + boxWidth, y + boxHeight / 2 + thread * 2], centers[next.name], `t${thread % 4}`,
        { dashed: next.kind === "read", bend: -0.04, title: phrase(race, next) }));
    }
  });
  const height = Math.max(bottom, isNarrow ? threadsEnd : count * (boxHeight + 44) - 30) + (isNarrow ? 0 : 6);
  return drawing(width, height, "Threads, locks and state", arrows, parts);
}

// The steps as points on one line for each thread, with time running down. Arrows show
// happens-before edges between threads.
function spaceTimeDrawing(path, width) {
  const race = path.race;
  const rowHeight = 30;
  const lane = Math.max(96, Math.min(260, (width - 20) / race.threads.length));
  const x = thread => 20 + lane * thread;
  const y = step => 54 + step * rowHeight;
  const height = y(path.length) + 10;
  const clocks = path.clocks();
  const races = path.races();
  const parts = [];
  const indices = race.threads.map(() => []);
  race.threads.forEach((name, thread) => {
    parts.push(label(x(thread) - 8, 20, clipped(name, Math.floor(lane / 9)), { class: `name fill-t${thread % 4}` }),
      shape("path", { d: `M${x(thread)} 30V${height - 8}`, class: `lane stroke-t${thread % 4}` }));
  });
  let depth = race.threads.map(() => 0);
  path.edges.forEach((edge, index) => {
    const { thread, after, locks } = edge.label;
    if (depth[thread] > 0) {
      const before = indices[thread][indices[thread].length - 1];
      parts.push(shape("path", { d: `M${x(thread)} ${y(before)}V${y(index)}`, class: `held stroke-t${thread % 4}` }));
    }
    depth[thread] = locks;
    for (const [other, step] of after) {
      const from = indices[other][step];
      if (from !== undefined) {
        // The orderings of atomic operations are not in the data.
        const dashed = isAtomic(edge.label);
        parts.push(arrow([x(other) + (other < thread ? 7 : -7), y(from) + 3],
          [x(thread) + (other < thread ? -8 : 8), y(index) - 2], "ink",
          { dashed, title: `step ${from + 1} happens before step ${index + 1}${dashed ? ", if their memory orderings are strong enough" : ""}` }));
      }
    }
    indices[thread].push(index);
  });
  for (const [first, second] of races) {
    const [a, b] = [path.edges[first].label.thread, path.edges[second].label.thread];
    parts.push(shape("path", { d: `M${x(a)} ${y(first)}L${x(b)} ${y(second)}`, class: "race" },
      shape("title", {}, `nothing orders steps ${first + 1} and ${second + 1}: a data race`)));
  }
  path.edges.forEach((edge, index) => {
    const { thread } = edge.label;
    parts.push(shape("circle", { cx: x(thread), cy: y(index), r: 6, class: `fill-t${thread % 4}` },
      shape("title", {}, `step ${index + 1}: ${phrase(race, edge.label)}; clock ${clocks[index].join(" ")}`)),
      label(x(thread) + 12, y(index) + 4, clipped(`${index + 1}  ${shortly(edge.label)}`, Math.floor(lane / 8) - 2), { class: "small halo" }));
  });
  const isCertain = !path.edges.some(({ label }) => isAtomic(label)) || path.ending && path.ending.race === 0;
  return drawing(20 + lane * race.threads.length, height,
    races.length > 0 ? `Happens-before: ${races.length} pairs of accesses that nothing orders`
      : isCertain ? "Happens-before: every pair of conflicting accesses is ordered"
        : "Happens-before: every pair of conflicting accesses is ordered, if the memory orderings are strong enough", parts);
}

function isAtomic({ kind }) { return ["atomicRead", "atomicWrite", "exchange"].includes(kind); }
