"use strict";

// The page: its races, and what they share. A page with more than one race has a front: a class
// `Front` in a script of its own, which shows the way to the races.
class LabPage {
  constructor() {
    this.frame = JSON.parse(document.getElementById("frame").textContent);
    this.frame.files.forEach(readLines);
    this.main = document.getElementById("main");
    this.live = document.getElementById("live");
    this.store = new Store(this.frame.title);
    this.revealed = new Set(this.store.get("revealed", []));
    this.predictions = new Map(Object.entries(this.store.get("predictions", {})));
    // What the presenter has revealed in this presentation.
    this.uncovered = new Set();
    this.isSingle = document.getElementById("front") === null;
    this.front = this.isSingle ? null : new Front(this, JSON.parse(document.getElementById("front").textContent));
    // Of several patterns with one name, the browser takes the first one, which must not be hidden.
    document.body.prepend(fill(drawing(1, 1, ""), { class: "live", "aria-hidden": "true" }, []));
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
    this.view = null;
    try {
      if (this.dataOf(id) !== null) this.showRace(id, schedule);
      else this.front.show(words, text);
    } catch (error) {
      this.explain(error);
    }
    if (this.hasRouted) this.begin();
    this.hasRouted = true;
  }

  // After a link within the page, a screen reader begins with the heading.
  begin() {
    const heading = this.main.querySelector("h1");
    if (heading) heading.tabIndex = -1;
    (heading || this.main).focus({ preventScroll: true });
    this.say("");
    scrollTo(0, 0);
  }

  dataOf(id) { return document.getElementById(`race:${id}`); }
  raceOf(id) { return new Race(id, JSON.parse(this.dataOf(id).textContent), this.frame.files); }

  showRace(id, schedule) {
    const race = this.raceOf(id);
    this.view = new RaceView(race, this);
    put(this.main, this.view.node, this.keysHelp(race));
    this.head(race.data.title, id);
    if (schedule !== "") this.view.load(schedule);
    else this.view.update();
  }

  // Whatever went wrong, the page says so.
  explain(error) {
    put(this.main, element("p", { class: "problem", role: "alert" },
      `This page cannot show what the address names: its data is damaged (${error.message}). Load the file again.`),
    this.front ? element("p", {}, element("a", { href: "#" }, "To the beginning")) : null);
  }

  head(title, id = "") {
    document.title = title;
    put(document.getElementById("where"), this.front ? this.front.way(id) : element("span", {}, this.frame.title));
  }

  // MARK: Predictions

  isRevealed(id) {
    return this.isPresenting ? this.uncovered.has(id) : this.revealed.has(id);
  }

  reveal(id) {
    this.uncovered.add(id);
    if (this.isPresenting) return;
    this.revealed.add(id);
    this.store.set("revealed", [...this.revealed]);
  }

  // true: some interleaving fails; false: none does; null: the user wants to try first.
  prediction(id) { return this.predictions.get(id); }

  predict(id, answer) {
    this.predictions.set(id, answer);
    this.store.set("predictions", Object.fromEntries(this.predictions));
  }

  // MARK: Keys, themes, announcements

  say(text) { this.live.textContent = text; }

  keysHelp(race) {
    const keys = race.threads.map((name, i) => [race.letters[i], `${name} takes its next step`]);
    const others = race.labels.some(label => label.mark !== "") ? [["Shift + letter", "its step ends the other way"]] : [];
    const usesKeys = element("input", {
      type: "checkbox", id: "uses-keys", checked: this.usesKeys,
      onchange: event => { this.usesKeys = event.target.checked; this.store.set("keys", this.usesKeys); },
    });
    return element("section", { class: "keys", "aria-label": "Keys" },
      [...keys, ...others, ["← →", "back, forward"], ["Home", "restart"], [".", "presentation"], ["?", "answer"]]
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
    // A race fills the window below the bar.
    const bar = document.querySelector(".bar");
    new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${Math.ceil(bar.getBoundingClientRect().height)}px`)).observe(bar);
    this.usesKeys = this.store.get("keys", true);
    const theme = document.getElementById("theme");
    const themes = ["auto", "light", "dark"];
    const apply = name => {
      document.documentElement.dataset.theme = name;
      theme.textContent = `Colors: ${name}`;
      this.store.set("theme", name);
    };
    theme.addEventListener("click", () => {
      apply(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]);
    });
    apply(themes.find(name => name === this.store.get("theme", "auto")) || "auto");
    this.presentButton = document.getElementById("present");
    this.presentButton.addEventListener("click", () => this.present());
    addEventListener("beforeprint", () => this.startPrinting());
    addEventListener("afterprint", () => this.endPrinting());
  }

  get isPresenting() { return document.documentElement.classList.contains("present"); }

  present() {
    const isOn = document.documentElement.classList.toggle("present");
    this.presentButton.setAttribute("aria-pressed", String(isOn));
    this.uncovered.clear();
    if (this.view) this.view.update();
  }

  // On paper, a race that fails shows its counterexample, once it was revealed.
  startPrinting() {
    const { view } = this;
    if (!view || !view.isRevealed || !view.race.fails || view.path.fails) return;
    this.beforePrint = { path: view.path, undone: view.undone };
    view.path = view.race.walk(view.race.counterexample.join("")).path;
    view.undone = [];
    view.update();
  }

  endPrinting() {
    if (!this.beforePrint) return;
    Object.assign(this.view, this.beforePrint);
    this.beforePrint = null;
    this.view.update();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target } = event;
    // Inputs keep the keys with which they are operated.
    const isInput = target instanceof HTMLElement && target.matches("input, select, textarea");
    if (!this.usesKeys || isInput && /^(Arrow|Home|End|Page| )/.test(event.key)) return;
    if (event.key === ".") {
      this.present();
    } else if (!this.view || !this.view.key(event)) {
      return;
    }
    event.preventDefault();
  }
}

// What the page remembers, where the browser allows it.
class Store {
  constructor(title) {
    this.name = `interleavings of ${title}`;
    try {
      this.values = JSON.parse(localStorage.getItem(this.name)) || {};
    } catch {
      this.values = {};
    }
  }

  get(key, other) { return this.values[key] === undefined ? other : this.values[key]; }

  set(key, value) {
    this.values[key] = value;
    try {
      localStorage.setItem(this.name, JSON.stringify(this.values));
    } catch {
      // It remembers until the page is closed.
    }
  }
}

// The shown lines of a file, by line number.
function readLines(file) {
  file.lines = new Map(file.passages.flatMap(({ first, lines }) => lines.map((line, i) => [first + i, line])));
}

let page;
try {
  page = new LabPage();
} catch (error) {
  put(document.getElementById("main"), element("p", { class: "problem", role: "alert" },
    `This page cannot start: its data is damaged (${error.message}). Load the file again.`));
}
