"use strict";

// Pictures of hazards that need only one thread.

// A promise as a box with its slots.
function promiseBox(x, y, name, slots, className = "field") {
  const height = 34 + slots.length * 24;
  return [box(x, y, 150, height, className), label(x + 12, y + 22, name, { class: "name" }),
    slots.map(([slot, value], i) => [
      label(x + 12, y + 44 + i * 24, slot, { class: "small" }),
      label(x + 138, y + 44 + i * 24, value, { class: "small", "text-anchor": "end" }),
    ])];
}

// H03: on Stage 1, `error` overwrites the slot that contained the link to the next promise.
function cutChain() {
  const row = (y, title, isCut) => [
    label(10, y + 16, title, { class: "name" }),
    promiseBox(10, y + 28, "promise", [["f_then", "set"], ["f_error", "set"]], isCut ? "changed" : "field"),
    promiseBox(270, y + 28, "next", [["f_then", "nil"], ["f_error", "set"]]),
    box(530, y + 62, 170, 34, "note-1"),
    label(542, y + 84, "end of the chain", { class: "small" }),
    arrow([162, y + 68], [268, y + 68], "t0", { title: "f_then" }),
    isCut ? [
      arrow([162, y + 92], [268, y + 100], "fail", { dashed: true, title: "the link that was cut" }),
      sign(214, y + 97, "fails", 9),
      arrow([162, y + 96], [268, y + 150], "t1"),
      box(270, y + 134, 220, 34, "note-0"),
      label(282, y + 156, "the function given to error", { class: "small" }),
    ] : arrow([162, y + 92], [268, y + 100], "t0", { title: "f_error" }),
    arrow([422, y + 92], [528, y + 80], "t1"),
  ];
  return drawing(720, 340, "H03: calling error on a promise cuts the link to the rest of its chain",
    row(0, "After then: both slots lead to the next promise"),
    row(150, "After error on the same promise: an error no longer reaches the chain", true));
}

// H12: the stack of a chain that settles by recursion, and of one that drains a queue.
function chainStack() {
  const frame = (x, y, text, className) => [box(x, y, 190, 26, className), label(x + 12, y + 18, text, { class: "small" })];
  const column = (x, title, frames, below) => [
    label(x, 20, title, { class: "name" }),
    frames.map(([text, className], i) => frame(x, 36 + i * 30, text, className)), below(36 + frames.length * 30),
  ];
  const calls = ["settle, link 1", "handler, link 1", "settle, link 2", "handler, link 2", "settle, link 3", "handler, link 3"]
    .map((text, i) => [text, i % 2 === 0 ? "note-0" : "note-1"]);
  return drawing(720, 300, "H12: one stack frame after another against a loop over a queue",
    column(10, "Recursion: two frames a link", calls, y => [
      label(95, y + 22, "⋮", { class: "name" }),
      label(10, y + 48, "1,000,000 links: stack overflow", { class: "small fill-fail" }),
      sign(222, y + 43, "fails", 7)]),
    column(300, "A loop: the stack stays", [["settle, link 1", "note-0"], ["run: takes a callback", "note-0"], ["handler of one link", "note-1"]], y => [
      label(300, y + 28, "every link uses the same three frames", { class: "small fill-well" }),
      sign(556, y + 23, "survives", 7)]),
    label(520, 54, "the queue", { class: "quiet" }),
    [0, 1, 2, 3].map(i => [box(520 + i * 44, 66, 38, 26, "item"), label(531 + i * 44, 84, `${i + 2}`, { class: "small" })]),
    arrow([518, 79], [494, 79], "ink"));
}

// The picture of a hazard on a version; null if it has none.
function hazardPicture(id, column) {
  if (id === "H03" && column === "stage1") return element("div", { class: "scroll" }, cutChain());
  if (id === "H12") return element("div", { class: "scroll" }, chainStack());
  return null;
}
