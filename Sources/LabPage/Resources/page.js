"use strict";

// The page: a matrix, the races behind its cells, and what belongs to both.
class LabPage {
  constructor() {
    this.frame = JSON.parse(document.getElementById("frame").textContent);
    this.main = document.getElementById("main");
    this.live = document.getElementById("live");
    this.predictions = new Map();
    this.revealed = new Set();
    this.showsAll = false;
    this.isSingle = this.frame.rows.length === 0;
    this.listen();
    this.route();
  }

  // MARK: Links

  link(id, schedule) {
    return `#${[id, schedule].filter(part => part !== "").map(encodeURI).join("/")}`;
  }

  // Browsers allow about six changes of the address a second.
  remember(id, schedule) {
    this.address = this.link(id, schedule);
    if (this.pending) return;
    const wait = (this.remembered || 0) + 200 - Date.now();
    if (wait <= 0) this.rememberNow();
    else this.pending = setTimeout(() => this.rememberNow(), wait);
  }

  rememberNow() {
    this.forget();
    this.remembered = Date.now();
    if (location.hash !== this.address && (location.hash !== "" || this.address !== "#")) {
      history.replaceState(null, "", this.address);
    }
  }

  forget() {
    clearTimeout(this.pending);
    this.pending = null;
  }

  route() {
    this.forget();
    let words;
    try {
      words = decodeURI(location.hash.slice(1)).split("/");
    } catch {
      words = [""];
    }
    const id = this.isSingle ? "" : words.slice(0, 2).join("/");
    const schedule = this.isSingle ? words[0] : words[2] || "";
    if (this.view && this.view.stop) this.view.stop();
    const data = document.getElementById(`race:${id}`);
    const row = this.frame.rows.find(row => row.id === words[0]);
    if (data) this.showRace(id, row, JSON.parse(data.textContent), schedule);
    else if (row && row.cells[words[1]]) this.showCell(row, words[1]);
    else this.showMatrix();
    if (this.hasRouted) this.main.focus({ preventScroll: true });
    if (this.hasRouted) scrollTo(0, 0);
    this.hasRouted = true;
  }

  showRace(id, row, data, schedule) {
    const race = new Race(id, data, this.frame.files);
    this.view = new RaceView(race, this);
    put(this.main, this.view.node, this.keysHelp(race));
    this.head(data.title, row, id.split("/")[1]);
    if (schedule !== "") this.view.load(schedule, true);
    else this.view.update();
  }

  // A hazard without threads, or one that cannot be expressed.
  showCell(row, column) {
    const cell = row.cells[column];
    this.view = null;
    const title = `${row.id} · ${row.name} · ${this.titleOf(column)}`;
    put(this.main, element("div", { class: "race" },
      element("h1", {}, prose(title)), element("p", { class: "story" }, prose(row.story)),
      element("p", { class: `verdict ${cell.verdict}` }, `${signs[cell.verdict]} ${cell.text}`),
      element("p", {}, prose(cell.detail)), hazardPicture(row.id, column)));
    this.head(title, row, column);
  }

  titleOf(id) {
    const column = this.frame.columns.find(column => column.id === id);
    return column ? column.title : id;
  }

  head(title, row, current) {
    document.title = title;
    const where = document.getElementById("where");
    if (!row) {
      put(where, element("span", {}, this.frame.title));
      return;
    }
    const columns = this.frame.columns.filter(column => row.cells[column.id]);
    put(where, element("a", { href: "#" }, "Matrix"), element("span", { class: "quiet" }, ` ${row.id} on `),
      columns.map(column => element("a", {
        href: this.link(`${row.id}/${column.id}`, ""), "aria-current": column.id === current ? "page" : null,
      }, column.title)));
  }

  // MARK: The matrix

  showMatrix() {
    this.view = null;
    this.head(this.frame.title, null);
    const groups = [...new Set(this.frame.rows.map(row => row.group))];
    const reveal = element("button", { type: "button", id: "show-all", "aria-pressed": String(this.showsAll) },
      this.showsAll ? "Hide the verdicts of races" : "Show every verdict");
    reveal.addEventListener("click", () => {
      this.showsAll = !this.showsAll;
      this.showMatrix();
      document.getElementById("show-all").focus();
    });
    const table = element("table", { class: "matrix" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Hazard"),
        this.frame.columns.map(column => element("th", { scope: "col" }, column.title)))),
      groups.map(group => element("tbody", {},
        element("tr", {}, element("th", { scope: "rowgroup", colspan: this.frame.columns.length + 1, class: "group" }, group)),
        this.frame.rows.filter(row => row.group === group).map(row => this.rowOf(row)))));
    put(this.main, element("div", { class: "front" },
      element("h1", {}, this.frame.title),
      element("p", { class: "story" }, "Every cell is a race or a hazard on one version of the promise. In a race you are the scheduler: you decide, step by step, which thread goes on, in the real source. Can you make it fail?"),
      element("p", { class: "moves" }, this.start(), reveal),
      element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Matrix" }, table),
      element("p", { class: "legend" }, "✓ survives   ✗ fails   – cannot be expressed   ▷ try it: the verdict is hidden until you have predicted it   k/n: k of n interleavings fail; those that differ only in the order of independent steps count once")));
  }

  // The first race of the first column that has one: small enough to begin with.
  start() {
    for (const column of this.frame.columns) {
      const row = this.frame.rows.find(row => document.getElementById(`race:${row.id}/${column.id}`) !== null);
      if (row) {
        return element("a", { class: "start", href: this.link(`${row.id}/${column.id}`, "") },
          `Begin with ${row.id} on ${column.title}`);
      }
    }
    return null;
  }

  rowOf(row) {
    return element("tr", {}, element("th", { scope: "row" }, element("span", { class: "id" }, row.id), " ", prose(row.name)),
      this.frame.columns.map(column => {
        const cell = row.cells[column.id];
        if (!cell) return element("td", {});
        const id = `${row.id}/${column.id}`;
        const isHidden = !this.isRevealed(id) && document.getElementById(`race:${id}`) !== null;
        const name = `${row.id} on ${column.title}: ${isHidden ? "try it" : `${cell.verdict}, ${cell.text}`}`;
        return element("td", { class: isHidden ? "hidden" : cell.verdict },
          element("a", { href: this.link(id, ""), "aria-label": name },
            isHidden ? "▷ try it" : `${signs[cell.verdict]} ${cell.text}`.trim()));
      }));
  }

  // MARK: Predictions

  isRevealed(id) { return this.showsAll || this.revealed.has(id); }
  reveal(id) { this.revealed.add(id); }

  // MARK: Keys, themes, announcements

  say(text) { this.live.textContent = text; }

  keysHelp(race) {
    const keys = race.threads.map((name, i) => [race.letters[i], `${name} takes its next step`]);
    const early = race.labels.some(label => label.early)
      ? [["Shift + letter", "it tries before the lock is released"]] : [];
    const usesKeys = element("input", {
      type: "checkbox", id: "uses-keys", checked: this.usesKeys !== false,
      onchange: event => { this.usesKeys = event.target.checked; },
    });
    return element("section", { class: "keys", "aria-label": "Keys" },
      [...keys, ...early, ["← →", "back, forward"], ["Home", "restart"], [".", "presentation"]]
        .map(([key, words]) => element("span", {}, element("kbd", {}, key), ` ${words}`)),
      element("label", {}, usesKeys, " Keys act on the whole page"));
  }

  listen() {
    addEventListener("hashchange", () => this.route());
    addEventListener("keydown", event => this.key(event));
    let pending;
    addEventListener("resize", () => {
      cancelAnimationFrame(pending);
      pending = requestAnimationFrame(() => { if (this.view) this.view.update(); });
    });
    const theme = document.getElementById("theme");
    const themes = ["auto", "light", "dark"];
    const apply = name => {
      document.documentElement.dataset.theme = name;
      theme.textContent = `Colors: ${name}`;
    };
    let current = 0;
    theme.addEventListener("click", () => {
      current = (current + 1) % themes.length;
      apply(themes[current]);
    });
    apply("auto");
    const present = document.getElementById("present");
    present.addEventListener("click", () => this.present(present));
    this.presentButton = present;
  }

  present(button) {
    const isOn = document.documentElement.classList.toggle("present");
    button.setAttribute("aria-pressed", String(isOn));
    if (this.view) this.view.update();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target } = event;
    const isText = target instanceof HTMLElement && target.matches("input, select, textarea");
    if (isText || this.usesKeys === false) return;
    if (event.key === ".") {
      this.present(this.presentButton);
    } else if (!this.view || !this.view.key(event)) {
      return;
    }
    event.preventDefault();
  }
}

const signs = { survives: "✓", fails: "✗", cannotExpress: "–", unknown: "?" };

const page = new LabPage();
