"use strict";

// The matrix, and the pages of its cells without a race.

const signs = { survives: "✓", fails: "✗", cannotExpress: "–", unknown: "?" };

// A hazard without threads, or one that cannot be expressed.
function showCell(page, front, row, column) {
  const cell = row.cells[column];
  const title = `${row.id} · ${row.name} · ${front.titleOfColumn(column)}`;
  put(page.main, element("div", { class: "race" },
    element("h1", {}, prose(title)), element("p", { class: "story" }, prose(row.story)),
    element("p", { class: `verdict ${cell.verdict}` }, `${signs[cell.verdict]} ${cell.text}`),
    element("p", {}, prose(cell.detail)), hazardPicture(row.id, column)));
  page.head(title, `${row.id}/${column}`);
}

// `link` is the target of a link that led nowhere, if one was followed.
function showMatrix(page, front, link = "") {
  const { columns, rows } = front.data;
  page.head(page.frame.title);
  const groups = [...new Set(rows.map(row => row.group))];
  const reveal = element("button", { type: "button", id: "show-all", "aria-pressed": String(front.showsAll === true) },
    front.showsAll ? "Hide the verdicts of races" : "Show every verdict");
  reveal.addEventListener("click", () => {
    front.showsAll = !front.showsAll;
    showMatrix(page, front);
    document.getElementById("show-all").focus();
  });
  const table = element("table", { class: "matrix" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Hazard"),
      columns.map(column => element("th", { scope: "col" }, column.title)))),
    groups.map(group => element("tbody", {},
      element("tr", {}, element("th", { scope: "rowgroup", colspan: columns.length + 1, class: "group" }, group)),
      rows.filter(row => row.group === group).map(row => rowOf(page, front, row)))));
  put(page.main, element("div", { class: "front" },
    element("h1", {}, page.frame.title),
    link === "" ? null : element("p", { class: "problem", role: "alert" },
      `This page has nothing at “${clipped(link, 60)}”. Choose a cell.`),
    element("p", { class: "story" }, "Every cell is a race or a hazard on one version of the promise. In a race you are the scheduler: you decide, step by step, which thread continues, in the real source."),
    element("p", { class: "moves" }, reveal),
    element("div", { class: "scroll whole", tabindex: 0, role: "group", "aria-label": "Matrix" }, table),
    element("p", { class: "legend" }, "✓ survives   ✗ fails   – cannot be expressed   ▷ try it: the verdict is hidden until you have predicted it   k/n: k of n kinds of interleavings fail; interleavings that differ only in the order of independent steps are of one kind"),
    front.foot()));
}

function rowOf(page, front, row) {
  return element("tr", {}, element("th", { scope: "row" }, element("span", { class: "id" }, row.id), " ", prose(row.name)),
    front.data.columns.map(column => {
      const cell = row.cells[column.id];
      if (!cell) return element("td", {});
      const id = `${row.id}/${column.id}`;
      const isHidden = !front.showsAll && !page.revealed.has(id) && page.dataOf(id) !== null;
      const verdict = cell.verdict === "cannotExpress" ? "cannot be expressed" : [cell.verdict, cell.text].filter(part => part !== "").join(", ");
      const name = `${row.id} on ${column.title}: ${isHidden ? "try it" : verdict}`;
      return element("td", { class: isHidden ? "hidden" : cell.verdict },
        element("a", { href: page.link(id, ""), "aria-label": name },
          isHidden ? "▷ try it" : `${signs[cell.verdict]} ${cell.text}`.trim()));
    }));
}
