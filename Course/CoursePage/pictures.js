"use strict";

// The pictures of the documents, drawn on the page. The page itself does not have this script.

// The verdicts as strips, one row for each version.
function strips(rows, columns) {
  const size = 17;
  const left = 92;
  const height = 84 + columns.length * 30;
  return drawing(left + rows.length * size + 8, height, "Verdicts of all hazards on every step from Stage 2 to Stage 3",
    rows.map((row, i) => {
      const x = left + i * size + 12;
      return label(x, 58, row.id, { class: "tiny", transform: `rotate(-90 ${x} 58)` });
    }),
    columns.map((column, j) => [
      label(8, 86 + j * 30, column.title, { class: "name" }),
      rows.map((row, i) => {
        const cell = row.cells[column.id];
        const verdict = cell ? cell.verdict : "cannotExpress";
        const x = left + i * size;
        return shape("g", {}, shape("rect", { x, y: 68 + j * 30, width: size - 2, height: 24, class: `strip ${verdict}` }),
          label(x + (size - 2) / 2, 85 + j * 30, signs[verdict], { class: `tiny ${verdict}`, "text-anchor": "middle" }),
          shape("title", {}, `${row.id} ${row.name} on ${column.title}: ${verdict}${cell ? ` ${cell.text}` : ""}`));
      }),
    ]));
}

// R01 on Stage 1, reduced to the three steps of each thread: what a map is.
function plainSquare() {
  const size = 74;
  const at = (i, j) => [128 + i * size, 74 + j * size];
  const line = (points, fate) => shape("path", { d: `M${points.map(point => point.join(" ")).join("L")}`, class: `sign ${fate} outline` });
  const conflict = (i, j) => shape("rect", { x: at(i, j)[0] + 8, y: at(i, j)[1] + 8, width: size - 16, height: size - 16, class: "conflict" });
  const grid = [0, 1, 2, 3].map(k => [
    shape("path", { d: `M${at(0, k).join(" ")}L${at(3, k).join(" ")}`, class: "road stroke-t0" }),
    shape("path", { d: `M${at(k, 0).join(" ")}L${at(k, 3).join(" ")}`, class: "road stroke-t1" })]);
  const path = (moves, shift) => {
    let [i, j] = [0, 0];
    return [[0, 0], ...[...moves].map(move => move === "S" ? [++i, j] : [i, ++j])].map(([x, y]) => at(x, y).map(value => value + shift));
  };
  const signs = [["survives", "no continuation fails"], ["fails", "every continuation fails"], ["mixed", "some continuations fail"]];
  const paths = [
    ["survives", "f_then is filled first: the resolver calls the handler"],
    ["fails", "checked before, filled after: the handler is lost"],
    ["survives", "the state is written first: the subscriber calls it"],
  ];
  const row = (n, symbol, text) => [symbol(400, 152 + n * 26), label(432, 156 + n * 26, text, { class: "small" })];
  return drawing(760, 326, "A square of three by three steps. Three paths lead from its top left to its bottom right corner.",
    label(at(0, 0)[0], 16, "subscriber →", { class: "name fill-t0" }),
    label(8, at(0, 0)[1] - 8, "resolver ↓", { class: "name fill-t1" }),
    ["check the state", "fill f_error", "fill f_then"].map((text, i) => label(at(i + 0.5, 0)[0], i % 2 === 0 ? 60 : 42, text, { class: "small fill-t0", "text-anchor": "middle" })),
    ["write the result", "write the state", "read f_then"].map((text, j) => label(at(0, 0)[0] - 12, at(0, j + 0.5)[1] + 4, text, { class: "small fill-t1", "text-anchor": "end" })),
    grid, conflict(0, 1), conflict(2, 2),
    line(path("SSSRRR", -3), "survives"), line(path("SRRRSS", 0), "fails"), line(path("RRRSSS", 3), "survives"),
    paths.map(([fate, text], n) => [
      line([[390, 36 + n * 26], [414, 36 + n * 26]], fate), label(432, 40 + n * 26, text, { class: "small" })]),
    shape("rect", { x: 392, y: 108, width: 20, height: 20, class: "conflict" }), label(432, 122, "conflict: the order of these two steps matters", { class: "small" }),
    signs.map(([fate, text], n) => row(n, (x, y) => sign(x, y, fate, 5), text)),
    row(3, (x, y) => [sign(x - 6, y, "survives", 5), sign(x + 7, y, "fails", 5)], "reached in different orders, with different results"),
    row(4, (x, y) => shape("circle", { cx: x, cy: y, r: 9, class: "here" }), "the end of the path that is shown"),
    row(5, (x, y) => sign(x, y, "survives", 7), "a large sign: both threads have ended"));
}

// The map of a race, with the path of a schedule.
function mapPicture(id, schedule) {
  const race = page.raceOf(id);
  const map = new InterleavingMap(race, { goTo: () => {}, show: () => {}, walk: () => {}, point: () => {} });
  map.shown = race.walk(schedule).path;
  map.draw(new Path(race));
  // In a document, the map has no current place.
  map.base.picture.setAttribute("aria-label", map.words);
  return map.node.firstChild;
}

// The objects of a race after the steps of a schedule.
function objectsPicture(id, schedule) {
  return objectsDrawing(page.raceOf(id).walk(schedule).path, 640);
}

// A picture as a file of its own, with the colors of the page for light and dark.
function pictureFile(picture) {
  const used = new Set();
  picture.querySelectorAll("[marker-end]").forEach(node => used.add(node.getAttribute("marker-end").slice(5, -1)));
  picture.querySelectorAll("marker").forEach(node => { if (!used.has(node.id)) node.remove(); });
  picture.removeAttribute("style");
  picture.prepend(shape("style", {}, pictureStyle(picture)));
  return `${new XMLSerializer().serializeToString(picture).replace(/></g, ">\n<")}\n`;
}

// The style rules of the page that a picture needs.
function pictureStyle(picture) {
  const isNeeded = ({ selectorText }) => selectorText !== undefined && /^(svg|\.)/.test(selectorText)
    && (picture.matches(selectorText) || picture.querySelector(selectorText) !== null);
  const rules = [...document.styleSheets[0].cssRules];
  const colors = rules.find(rule => rule.selectorText === ":root").cssText.replace("color-scheme: light dark;", "");
  const dark = rules.find(rule => rule.conditionText === "screen and (prefers-color-scheme: dark)").cssRules[0].cssText
    .replace(':root:not([data-theme="light"])', ":root");
  return [colors, `@media (prefers-color-scheme: dark) { ${dark} }`,
    "svg { background: var(--paper); }", ...rules.filter(isNeeded).map(rule => rule.cssText)].join("\n");
}

// The order of moves that loses the letter, as a picture that moves: a frame after each move. For
// those who prefer less motion, only the last one is shown.
function movingPicture() {
  const { opening } = page.front;
  const game = opening.naive;
  opening.saved = { screen: 0, tried: [], locked: [] };
  game.start();
  opening.moved = null;
  const lost = [...opening.outcomes.keys()].find(order => opening.outcomes.get(order));
  const frames = ["", ...lost].map((letter, i, all) => {
    if (letter !== "") {
      const thread = "AB".indexOf(letter);
      const { text, more = "" } = opening.naiveMove(thread);
      game.move(thread);
      opening.moved = `${["Ana", "Ben"][thread]} ${text}${more}.`;
    }
    const [scene, map] = [opening.scene(), opening.map(game.order)];
    fill(scene, { x: 0, y: 0 }, []);
    fill(map, { x: 590, y: 20, width: 300, height: 262 }, []);
    const words = i === 0 ? "Ana looks for a letter; if there is none, she leaves a note. Ben puts it in; if there is a note, he brings it to her."
      : game.fails ? "Each of them looked too early, and neither looks again: the letter is lost." : opening.result().textContent;
    return shape("g", { class: i === all.length - 1 ? "frame last" : "frame", style: `animation-delay: ${2.4 * i - 12}s` },
      scene, map, label(450, 284, words, { class: `words${game.hasEnded ? " fails" : ""}`, "text-anchor": "middle" }));
  });
  const style = [
    ".frame { visibility: hidden; animation: frame 12s infinite; }",
    "@keyframes frame { 0%, 19.9% { visibility: visible; } 20%, 100% { visibility: hidden; } }",
    "@media (prefers-reduced-motion: reduce) { .frame { animation: none; } .frame.last { visibility: visible; } }",
    ".words { font-weight: 600; }",
  ];
  return drawing(900, 300, "Ana and Ben at a mailbox. Their moves, in one of six orders, lose the letter.",
    shape("style", {}, style.join("\n")), frames);
}
