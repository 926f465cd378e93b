"use strict";

// The page: a matrix, the races of its cells, and what both share.
class LabPage {
  constructor() {
    this.frame = JSON.parse(document.getElementById("frame").textContent);
    this.frame.files.forEach(readLines);
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

  // Browsers limit how often a page may change its address, so change it at most five times a
  // second.
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

  // The part of the address after the #.
  get place() {
    const text = location.hash.slice(1);
    try {
      return decodeURI(text);
    } catch {
      return text;
    }
  }

  route() {
    this.forget();
    const text = this.place;
    const words = text.split("/");
    const id = this.isSingle ? "" : words.slice(0, 2).join("/");
    const schedule = this.isSingle ? words[0] : words[2] || "";
    if (this.view && this.view.stop) this.view.stop();
    const data = document.getElementById(`race:${id}`);
    const row = this.frame.rows.find(row => row.id === words[0]);
    if (data) this.showRace(id, row, JSON.parse(data.textContent), schedule);
    else if (row && row.cells[words[1]]) showCell(this, row, words[1]);
    else showMatrix(this, text);
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
    // The address identifies what is shown, so this link must not change it.
    document.querySelector(".skip").addEventListener("click", event => {
      event.preventDefault();
      this.main.focus();
    });
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

  get isPresenting() { return document.documentElement.classList.contains("present"); }

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

// The shown lines of a file, by line number.
function readLines(file) {
  file.lines = new Map(file.passages.flatMap(({ first, lines }) => lines.map((line, i) => [first + i, line])));
}

const page = new LabPage();
