"use strict";

// The front of the page: the opening, the races in an order to learn, and the matrix.
class Front {
  // - data: the columns and rows of the matrix, and those of other races.
  constructor(page, data) {
    this.page = page;
    this.data = data;
    this.rows = [...data.rows, ...data.examples];
    this.columns = [...data.columns, ...data.columnsOfExamples];
    for (const row of this.rows) {
      for (const [id, [verdict, text, detail]] of Object.entries(row.cells)) row.cells[id] = { verdict, text, detail: data.details[detail] };
    }
  }

  // The races in an order to learn: a heading that does not give an answer away, and the links.
  static lessons = [
    ["No lock: Stage 1", ["R01/stage1", "R02/stage1", "R03/stage1", "R04/stage1", "R08/stage1"]],
    ["Lists of handlers, but no lock: Stage 2", ["R01/stage2", "R05/stage2", "R06/stage2", "R07/stage2", "R12/stage2"]],
    ["One lock around everything: Step A", ["R01/stepA", "R09/stepA", "R10/stepA"]],
    ["Handlers are called after the unlock: Steps B and C", ["R10/stepB", "R06/stepB", "R06/stepC"]],
    ["The finished promise: Stage 3", ["R01/stage3", "R05/stage3", "R09/stage3", "R10/stage3", "R11/stage3"]],
    ["Combined promises, tasks and cancellation: Stage 3", ["R14/stage3", "R15/stage3", "R16/stage3", "R17/stage3", "R19/stage3", "R20/stage3", "R21/stage3", "R22/stage3"]],
    ["Memory orderings: a load can read an old value", ["door/acquire-release", "door/sequential"]],
  ];

  has(id) { return this.page.dataOf(id) !== null; }
  get lessons() {
    return Front.lessons.map(([title, ids]) => ({ title, ids: ids.filter(id => this.has(id)) })).filter(({ ids }) => ids.length > 0);
  }
  get hasOpening() { return Opening.needed.every(id => this.has(id)); }

  // - text: the address.
  show(words, text) {
    const row = this.rows.find(one => one.id === words[0]);
    const [place, number] = words;
    if (place === "play" && this.hasOpening) return this.opening.show(Number(number || 1) - 1);
    if (place === "races") return this.showRaces();
    if (place === "matrix") return showMatrix(this.page, this);
    if (row && row.cells[words[1]]) return showCell(this.page, this, row, words[1]);
    if (text !== "") return showMatrix(this.page, this, text);
    if (!this.hasOpening) return this.showRaces();
    if (this.opening.isDone) return this.showRaces();
    return this.opening.show(this.opening.saved.screen);
  }

  get opening() {
    this.theOpening = this.theOpening || new Opening(this.page);
    return this.theOpening;
  }

  titleOfColumn(id) {
    const column = this.columns.find(one => one.id === id);
    return column ? column.title : id;
  }

  // The row and the column of a race; its column may have the number of a scenario.
  placeOf(id) {
    const [name, column] = id.split("/");
    return { row: this.rows.find(one => one.id === name), column: (column || "").replace(/-\d+$/, "") };
  }

  // The links at the top of the page.
  way(id) {
    const links = element("div", {}, this.hasOpening ? element("a", { href: "#play/1" }, "Opening") : null,
      element("a", { href: "#races" }, "Races"), element("a", { href: "#matrix" }, "Matrix"));
    const { row, column } = this.placeOf(id);
    if (!row) return links;
    const columns = this.columns.filter(one => row.cells[one.id]);
    const others = this.scenariosOf(row.id, column);
    return [links, element("div", { class: "versions" }, element("span", { class: "quiet" }, ` ${row.id} on `),
      columns.map((one, i) => element("a", {
        href: this.page.link(`${row.id}/${one.id}`, ""), "aria-current": one.id === column ? "page" : null, "aria-label": one.title,
      }, this.shortTitle(columns, i))),
      others.length < 2 ? null : [element("span", { class: "quiet" }, " scenario "), others.map((other, i) => element("a", {
        href: this.page.link(other, ""), "aria-current": other === id ? "page" : null, "aria-label": `scenario ${i + 1}`,
      }, String(i + 1)))])];
  }

  // The title of a column beside that of the one before: of two stages, only the first says so.
  shortTitle(columns, i) {
    const [first, second] = columns[i].title.split(" ");
    const isSame = i > 0 && columns[i - 1].title.startsWith(`${first} `);
    return second && isSame ? second : columns[i].title;
  }

  // The races of a row that has several scenarios.
  scenariosOf(row, column) {
    const first = `${row}/${column}`;
    // R18 judges the races of other rows.
    if (row === "R18") return [first, ...["R02", "R03", "R04", "R05"].map(id => `${id}/${column}`).filter(id => this.has(id))];
    const all = [first];
    while (this.has(`${first}-${all.length + 1}`)) all.push(`${first}-${all.length + 1}`);
    return all;
  }

  // After an interleaving of a race that was revealed: the same moves where they do no harm, and the
  // next race.
  after(race, schedule) {
    const { row, column } = this.placeOf(race.id);
    const ways = [];
    const { columns } = this;
    const at = columns.findIndex(one => one.id === column);
    const isDesign = one => one.id.startsWith("design");
    const repair = race.fails && columns.find((one, i) => i > at && !isDesign(one) && row && row.cells[one.id]
      && row.cells[one.id].verdict === "survives" && this.has(`${row.id}/${one.id}`));
    if (repair) {
      ways.push({ href: this.page.link(`${row.id}/${repair.id}`, schedule === "" ? "" : `~${schedule}`), text: `The same moves on ${repair.title}` });
    }
    const all = this.lessons.flatMap(({ ids }) => ids);
    const next = all.slice(all.indexOf(race.id) + 1).find(id => !this.page.revealed.has(id)) || all.find(id => !this.page.revealed.has(id));
    if (next) ways.push({ href: this.page.link(next, ""), text: ["Next race: ", this.nameOf(next)] });
    return ways;
  }

  // What happens in a race, for readers who do not know the code.
  titleOf(id) { return this.placeOf(id).row.title; }

  // The title of a race, and beside it the name that it has in the matrix.
  nameOf(id) {
    const { row, column } = this.placeOf(id);
    return [row.title, " ", element("span", { class: "id" }, `${row.id} · ${this.titleOfColumn(column)}`)];
  }

  // The names that the threads of a race have in the opening.
  cast({ id, threads }) {
    const [ana, ben] = ["Ana", "Ben"].map((name, i) => element("strong", { class: `text-t${i}` }, name));
    const roles = {
      R01: [ana, ` is the ${threads[0]}, who calls `, element("code", {}, "then"), ", and ", ben, ` is the ${threads[1]}, who fulfills the promise.`],
      R10: [ana, ` is “${threads[0]}”, `, ben, ` is “${threads[1]}”.`],
    }[this.placeOf(id).row.id];
    return roles && threads.length === 2 && this.hasOpening ? element("span", { class: "cast" }, " In the opening, ", roles) : null;
  }

  foot() {
    return element("p", { class: "quiet foot" }, `Recorded with ${this.data.toolchain} for Linux x86-64, by promise-lab page.`);
  }

  showRaces() {
    const { page } = this;
    const all = this.lessons.flatMap(({ ids }) => ids);
    const done = all.filter(id => page.revealed.has(id)).length;
    const next = all.find(id => !page.revealed.has(id));
    page.head(page.frame.title);
    put(page.main, element("div", { class: "front" },
      element("h1", {}, page.frame.title),
      element("p", { class: "story" }, "In each race you are the scheduler: you decide, step by step, which thread continues, in the real source. Can you make it fail?"),
      element("p", {}, "All races are about one class, a promise, in several versions. Stages 1 and 2 have no lock. Steps A to E add one, and then repair what it breaks. Stage 3 is the finished class."),
      element("p", { class: "moves" },
        next ? element("a", { class: "start", href: page.link(next, "") }, done === 0 || next === all[0] ? "Begin: " : "Continue: ", this.nameOf(next)) : null,
        element("label", {}, `${done} of ${all.length} races played `, element("progress", { max: all.length, value: done }))),
      this.lessons.map(({ title, ids }) => element("section", { class: "lesson" }, element("h2", {}, title),
        element("ol", {}, ids.map(id => {
          const { row, column } = this.placeOf(id);
          const cell = row.cells[column];
          const isOpen = page.revealed.has(id);
          return element("li", { class: isOpen ? cell.verdict : "" }, element("a", { href: page.link(id, "") }, this.nameOf(id)),
          isOpen ? ` ${signs[cell.verdict]} ${cell.text.replace("/", " of ")}` : "");
        })))),
      this.foot()));
  }
}
