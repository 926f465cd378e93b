"use strict";

// Pictures of the opening: two people, their mailboxes, and the map of the orders of their moves.

function person(x, name, wish, color, mood) {
  const mouth = { glad: "M-9 8q9 9 18 0", sad: "M-9 13q9 -9 18 0", calm: "M-8 10h16" }[mood];
  return shape("g", { transform: `translate(${x} 86)` },
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

// Ana, Ben and one mailbox. A letter in the box, a note on it, or the letter in Ana's hands.
function mailboxScene({ hasLetter, hasNote, isDelivered, isLost }) {
  const words = [hasLetter && !isDelivered ? "a letter in the mailbox" : "", hasNote ? "a note on it" : "",
    isDelivered ? "Ana has her letter" : "", isLost ? "Ana waits forever" : ""].filter(word => word !== "");
  return drawing(560, 246, `Ana and Ben at a mailbox: ${words.join(", ") || "it is empty"}`,
    person(84, "Ana", "waits for a letter", "t0", isDelivered ? "glad" : isLost ? "sad" : "calm"),
    person(476, "Ben", "brings a letter", "t1", isDelivered ? "glad" : "calm"),
    mailbox(280, "the mailbox", [
      hasLetter && !isDelivered ? envelope(0, 142) : label(0, 150, "empty", { class: "small", "text-anchor": "middle" }),
      hasNote ? slip(30, 96) : null], hasLetter),
    isDelivered ? envelope(140, 110) : null,
    isLost ? [sign(84, 30, "fails", 12)] : null);
}

function keyShape(x, y, number, color) {
  return shape("g", { transform: `translate(${x} ${y})`, class: `key stroke-${color}` },
    shape("circle", { cx: -14, cy: 0, r: 9 }), shape("path", { d: "M-5 0H20M13 0v8M19 0v6" }),
    label(-14, 4, String(number), { class: "tiny", "text-anchor": "middle" }));
}

// Ana, Ben and two mailboxes with one key each.
function keysScene({ holders, isStuck }) {
  const words = [0, 1].map(box => `key ${box + 1} ${holders[box] < 0 ? "hangs at its box" : `is with ${["Ana", "Ben"][holders[box]]}`}`);
  const count = [0, 0];
  return drawing(560, 246, `Two mailboxes: ${words.join(", ")}${isStuck ? "; both wait forever" : ""}`,
    person(70, "Ana", "", "t0", isStuck ? "sad" : "calm"), person(490, "Ben", "", "t1", isStuck ? "sad" : "calm"),
    mailbox(206, "box 1", [], holders[0] >= 0), mailbox(354, "box 2", [], holders[1] >= 0),
    [0, 1].map(box => {
      const holder = holders[box];
      if (holder < 0) return keyShape([206, 354][box], 56, box + 1, "ink");
      const y = 130 + 26 * count[holder];
      count[holder] += 1;
      return keyShape([128, 432][holder], y, box + 1, `t${holder}`);
    }),
    isStuck ? [sign(70, 28, "fails", 12), sign(490, 28, "fails", 12)] : null);
}

// The map of the orders that were tried: a move of Ana leads to the right, one of Ben down. `orders`
// are texts such as ABBA; `lost` says which of them lose the letter.
function ordersMap({ orders, size, lost, current, titles }) {
  const gap = 84;
  const [left, top] = [96, 62];
  const at = (a, b) => [left + a * gap, top + b * gap];
  const points = (order, shift) => {
    let [a, b] = [0, 0];
    const places = [at(0, 0)];
    for (const letter of order) {
      if (letter === "A") a += 1;
      else b += 1;
      places.push(at(a, b));
    }
    return `M${places.map(([x, y]) => `${x - shift} ${y + shift}`).join("L")}`;
  };
  const dots = [];
  for (let a = 0; a <= size; a += 1) {
    for (let b = 0; b <= size; b += 1) {
      const [x, y] = at(a, b);
      dots.push(shape("circle", { cx: x, cy: y, r: 4, class: "dot" }));
    }
  }
  const width = left + size * gap + 40;
  const [ex, ey] = at(size, size);
  const lostOnes = orders.filter(lost);
  const here = current === null ? null : shape("path", { d: points(current, 0), class: "walked" });
  let [a, b] = [0, 0];
  for (const letter of current || "") {
    if (letter === "A") a += 1;
    else b += 1;
  }
  return drawing(width, top + size * gap + 40,
    `The map of the orders tried: ${orders.length}, of which ${lostOnes.length} ${lostOnes.length === 1 ? "loses" : "lose"} the letter`,
    label(left, 16, "Ana moves →", { class: "name fill-t0" }),
    label(4, top - 6, "Ben ↓", { class: "name fill-t1" }),
    titles[0].map((text, i) => label(left + (i + 0.5) * gap, 40, text, { class: "small fill-t0", "text-anchor": "middle" })),
    titles[1].map((text, j) => label(left - 14, top + (j + 0.5) * gap + 4, text, { class: "small fill-t1", "text-anchor": "end" })),
    dots,
    orders.map((order, i) => shape("path", {
      d: points(order, (i - (orders.length - 1) / 2) * 3.4), class: `kind ${lost(order) ? "fails" : "survives"}`,
    }, shape("title", {}, `${order}: ${lost(order) ? "the letter is lost" : "Ana gets the letter"}`))),
    here,
    orders.length > 0 ? [lostOnes.length < orders.length ? sign(ex + 12, ey + 12, "survives", 8) : null,
      lostOnes.length > 0 ? sign(ex - 12, ey + 14, "fails", 8) : null] : null,
    current === null ? null : shape("circle", { cx: at(a, b)[0], cy: at(a, b)[1], r: 11, class: "here" }));
}
