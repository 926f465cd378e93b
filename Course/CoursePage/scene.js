"use strict";

// Pictures of the opening: two people, their mailboxes, and the map of the orders of their moves.

function person(x, name, wish, color, mood, isAway = false) {
  const mouth = { glad: "M-9 8q9 9 18 0", sad: "M-9 13q9 -9 18 0", calm: "M-8 10h16" }[mood];
  return shape("g", { transform: `translate(${x} 86)`, class: isAway ? "away" : null },
    shape("path", { d: "M-34 98q0 -58 34 -58t34 58z", class: `body fill-${color}` }),
    shape("circle", { r: 34, class: `face stroke-${color}` }),
    shape("circle", { cx: -11, cy: -6, r: 3.2, class: "fill-ink" }), shape("circle", { cx: 11, cy: -6, r: 3.2, class: "fill-ink" }),
    shape("path", { d: mouth, class: "mouth" }),
    label(0, 120, name, { class: `big fill-${color}`, "text-anchor": "middle" }),
    label(0, 138, wish, { class: "small", "text-anchor": "middle" }));
}

function envelope(x, y) {
  return shape("g", { transform: `translate(${x} ${y})`, class: "letter" },
    shape("rect", { x: -26, y: -17, width: 52, height: 34, rx: 3 }), shape("path", { d: "M-26 -15L0 5L26 -15" }));
}

function slip(x, y) {
  return shape("g", { transform: `translate(${x} ${y}) rotate(-6)`, class: "slip" },
    shape("rect", { x: -26, y: -16, width: 52, height: 32, rx: 2 }),
    shape("path", { d: "M-18 -6h36M-18 2h36M-18 9h20" }));
}

function mailbox(x, title, children, isOpen) {
  return shape("g", { transform: `translate(${x} 0)` },
    shape("path", { d: "M-8 160h16v58h-16z", class: "post" }),
    shape("path", { d: "M-62 168v-62q0 -30 30 -30h64q30 0 30 30v62z", class: `mailbox${isOpen ? " open" : ""}` }),
    label(0, 236, title, { class: "small", "text-anchor": "middle" }), children);
}

// What a person believes, beside the head.
function bubble(x, y, text) {
  const width = 20 + 8.5 * text.length;
  return shape("g", { transform: `translate(${x} ${y})`, class: "bubble" },
    shape("rect", { x: 0, y: -15, width, height: 27, rx: 13 }), shape("circle", { cx: -4, cy: 15, r: 4 }), shape("circle", { cx: -11, cy: 22, r: 2.5 }),
    label(width / 2, 3, text, { class: "small", "text-anchor": "middle" }));
}

// Ana, Ben and one mailbox. A letter in the box, a note on it, or the letter in Ana's hands.
function mailboxScene({ hasLetter, hasNote, isDelivered, isBrought, isLost, thought = "", isHome = false, hasKey = false }) {
  const words = [hasKey ? "a lock, and its key" : "", hasLetter && !isDelivered ? "a letter in the mailbox" : "", hasNote ? "a note on it" : "",
    thought === "" ? "" : `Ana thinks: ${thought}`, isHome ? "Ben is home" : "",
    isDelivered ? "Ana has her letter" : "", isLost ? "Ana waits forever" : ""].filter(word => word !== "");
  return drawing(560, 246, `Ana and Ben at a mailbox: ${words.join(", ") || "it is empty"}`,
    person(84, "Ana", isDelivered ? "has her letter" : isLost ? "waits forever" : hasNote ? "waits" : "wants a letter", "t0", isDelivered || thought === "a letter!" ? "glad" : isLost ? "sad" : "calm"),
    person(476, "Ben", isHome ? "has gone home" : isBrought ? "has brought it" : hasLetter || isDelivered ? "has put it in" : "has the letter", "t1", isBrought ? "glad" : "calm", isHome),
    hasLetter || isDelivered ? null : envelope(424, 140),
    thought === "" ? null : bubble(124, 40, thought),
    mailbox(280, "the mailbox", [
      hasLetter && !isDelivered ? envelope(0, 142) : label(0, 150, "empty", { class: "small", "text-anchor": "middle" }),
      hasNote ? slip(30, 96) : null], hasLetter && !isDelivered),
    hasKey ? [keyShape(280, 56, "", "ink"), padlock(256, 84)] : null,
    isDelivered ? envelope(140, 110) : null,
    isLost ? [sign(84, 30, "fails", 12)] : null);
}

function keyShape(x, y, number, color) {
  return shape("g", { transform: `translate(${x} ${y})`, class: `key stroke-${color}` },
    shape("circle", { cx: -13, cy: 0, r: 11 }), shape("path", { d: "M-2 0H24M16 0v8M23 0v6" }),
    label(-13, 5, String(number), { class: "number-of-key", "text-anchor": "middle" }));
}

function padlock(x, y) {
  return shape("g", { transform: `translate(${x} ${y})`, class: "padlock" },
    shape("path", { d: "M-6 0v-5a6 6 0 0 1 12 0v5" }), shape("rect", { x: -9, y: 0, width: 18, height: 14, rx: 2 }));
}

// Ana, Ben and two mailboxes with one key each.
// - letters: how many letters are in each box; brings: whether Ana and Ben still carry theirs.
function keysScene({ holders, letters, notesDone, brings, isStuck, isDone }) {
  const words = [0, 1].map(box => `key ${box + 1} ${holders[box] < 0 ? "hangs at its box" : `is with ${["Ana", "Ben"][holders[box]]}`}`);
  const count = [0, 0];
  const mood = isStuck ? "sad" : isDone ? "glad" : "calm";
  const [people, places] = [[58, 502], [212, 348]];
  return drawing(560, 246, `Two mailboxes: ${words.join(", ")}${isStuck ? "; both wait forever" : ""}`,
    ["Ana", "Ben"].map((name, i) => person(people[i], name, isStuck ? "waits forever" : isDone && brings[i] ? "keeps the letter" : isDone ? "is done" : "", `t${i}`, mood)),
    people.map((x, i) => brings[i] ? envelope(x + [22, -22][i], 156) : null),
    places.map((x, box) => mailbox(x, `box ${box + 1}`, [
      letters[box] > 0 ? envelope(-4, 142) : label(0, 150, "empty", { class: "small", "text-anchor": "middle" }),
      notesDone[box] ? label(30, 104, "✓ done", { class: "small", "text-anchor": "middle" }) : slip(30, 98), padlock(-26, 92)], letters[box] > 0)),
    [0, 1].map(box => {
      const holder = holders[box];
      if (holder < 0) return keyShape(places[box], 56, box + 1, "ink");
      const y = 112 + 28 * count[holder];
      count[holder] += 1;
      return keyShape([120, 436][holder], y, box + 1, `t${holder}`);
    }),
    isStuck ? people.map(x => sign(x, 28, "fails", 12)) : null);
}

// All orders of some moves of Ana and as many of Ben, from the one that leads to the right first.
function ordersOf(a, b) {
  if (a === 0 || b === 0) return ["A".repeat(a) + "B".repeat(b)];
  return [...ordersOf(a - 1, b).map(rest => `A${rest}`), ...ordersOf(a, b - 1).map(rest => `B${rest}`)];
}

// The map of the orders that were tried: a move of Ana leads to the right, one of Ben down. `orders`
// are texts such as ABBA; `lost` says which of them lose the letter. Each order has a track of its
// own, so that lines do not cover each other.
function ordersMap({ orders, size, lost, current, titles }) {
  const gap = 76;
  const [left, top] = [122, 74];
  const all = ordersOf(size, size);
  const at = (a, b, shift = 0) => [left + a * gap + shift, top + b * gap - shift];
  const shiftOf = order => ((all.length - 1) / 2 - all.indexOf(order)) * 6;
  const places = (order, shift) => {
    let [a, b] = [0, 0];
    return [at(0, 0, shift), ...[...order].map(letter => {
      if (letter === "A") a += 1;
      else b += 1;
      return at(a, b, shift);
    })];
  };
  const line = (order, shift) => `M${places(order, shift).map(([x, y]) => `${x} ${y}`).join("L")}`;
  const numbers = [...Array(size + 1).keys()];
  const reach = shiftOf(all[0]);
  const lostOnes = orders.filter(lost);
  const isAtEnd = orders.includes(current);
  const here = current === null ? null : places(current, isAtEnd ? shiftOf(current) : 0).at(-1);
  return drawing(left + size * gap + 40, top + size * gap + 34,
    `The map of the orders tried: ${orders.length}, of which ${lostOnes.length} ${lostOnes.length === 1 ? "loses" : "lose"} the letter`,
    label(left - reach, 16, "Ana →", { class: "name fill-t0" }),
    label(4, top - 14, "Ben ↓", { class: "name fill-t1" }),
    titles[0].map((text, i) => label(left + (i + 0.5) * gap, 46, text, { class: "small fill-t0", "text-anchor": "middle" })),
    titles[1].map((text, j) => label(left - 26, top + (j + 0.5) * gap + 4, text, { class: "small fill-t1", "text-anchor": "end" })),
    numbers.map(a => numbers.map(b => shape("path", { d: `M${at(a, b, -reach)}L${at(a, b, reach)}`, class: "dot" }))),
    orders.map(order => shape("path", {
      d: line(order, shiftOf(order)), class: `kind ${lost(order) ? "fails" : "survives"}${order === current ? " now" : ""}`,
    }, shape("title", {}, `${order}: ${lost(order) ? "the letter is lost" : "Ana gets the letter"}`))),
    [...orders].sort((a, b) => (a === current) - (b === current)).map(order =>
      sign(...at(size, size, shiftOf(order)), lost(order) ? "fails" : "survives", order === current ? 9 : 5)),
    current === null || isAtEnd ? null : shape("path", { d: line(current, 0), class: "walked" }),
    here && !isAtEnd ? shape("circle", { cx: here[0], cy: here[1], r: 11, class: "here" }) : null);
}
