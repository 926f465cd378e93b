"use strict";

// The steps of a path as a table: a column for each thread, and one for each part of the state. The
// number of a step leads back to it.
function stepsTable(path, { fatal, isVeiled, view }) {
  const { threads, columns, data } = path.race;
  const states = path.states();
  const head = element("tr", {}, element("th", { scope: "col" }, "step"),
    threads.map((name, i) => element("th", { scope: "col", class: `text-t${i % 4}` }, name)),
    data.titles.map(title => element("th", { scope: "col" }, title)));
  const stateCells = state => columns.map((_, i) => element("td", {
    class: state.isLocked ? "quiet" : state.changed.includes(i) ? "changed" : "same",
  }, state.isLocked ? (i === 0 ? "(locked)" : "") : state.values[i]));
  const rows = columns.length === 0 ? [] : [element("tr", {}, element("td", {}),
    threads.map(() => element("td", {})), stateCells(states[0]))];
  const depth = threads.map(() => 0);
  path.edges.forEach((edge, index) => {
    const { thread, locks } = edge.label;
    const before = depth[thread];
    depth[thread] = locks;
    const cells = threads.map((_, i) => {
      const isHeld = depth[i] > 0 || (i === thread && before > 0);
      return element("td", { class: `${isHeld ? `holds holds-t${i % 4}` : ""} ${i === thread ? `text-t${i % 4}` : ""}` },
        i === thread ? stepCell(edge.label) : "");
    });
    const light = isOn => view.link(isOn ? [index] : []);
    rows.push(element("tr", {
      class: index === fatal ? "fatal" : "", "data-step": index,
      onpointerenter: () => light(true), onpointerleave: () => light(false), onfocusin: () => light(true), onfocusout: () => light(false),
    }, element("td", { class: "number" },
      element("button", { type: "button", class: "link", "aria-label": `Go to step ${index + 1}`, onclick: () => view.jump(index + 1) }, String(index + 1))),
    cells, stateCells(states[index + 1])));
    if (index === fatal) {
      rows.push(element("tr", { class: "fatal" }, element("td", {}),
        element("td", { colspan: threads.length + columns.length }, "← every continuation fails from here")));
    }
  });
  for (const wait of isVeiled || !path.ending ? [] : path.ending.waiting) {
    rows.push(element("tr", { class: "fatal" }, element("td", {}, "–"),
      threads.map((_, i) => element("td", { class: `text-t${i % 4}` }, i === wait.thread ? lineOf(path.waiting(wait.thread)) : "")),
      columns.length === 0 ? null : element("td", { colspan: columns.length }, path.waiting(wait.thread).sentence)));
  }
  return element("table", { class: "trace" }, element("thead", {}, head), element("tbody", {}, rows));
}

function stepCell(label) {
  if (label.kind === "note") return element("span", {}, `» ${label.text}`);
  return [lineOf(label, deedOf(label)),
    label.failed ? element("em", {}, label.mark === "-" ? " fails, right before the release" : " fails") : null];
}

// A line of source, the instance that it accesses, and what the line does not show.
function lineOf({ text, owner, site, remark }, verb) {
  return [element("code", {}, text || (verb ? `(${verb})` : "")),
    owner ? element("span", { class: "owner" }, ` ${owner}`) : "",
    site ? element("span", { class: "quiet" }, ` :${site.line}`) : "",
    text && remark ? ` ${remark}` : ""];
}
