"use strict";

// A race that the user steps through by hand.
class RaceView {
  constructor(race, page) {
    this.race = race;
    this.page = page;
    this.path = new Path(race);
    this.undone = [];
    this.timer = null;
    this.map = new InterleavingMap(race, {
      goTo: (counts, index) => this.goTo(counts, index), show: schedule => this.load(schedule, true),
    });
    this.build();
  }

  get isRevealed() { return this.page.isRevealed(this.race.id); }
  get prediction() { return this.page.predictions.get(this.race.id); }

  // MARK: Actions

  take(key) {
    if (this.undone[0] === key) this.undone.shift();
    else this.undone = [];
    this.stop();
    this.step(key);
  }

  step(key) {
    const edge = this.path.take(key);
    if (!edge) {
      const thread = this.race.letters.indexOf(key[0]);
      const wait = this.path.waiting(thread);
      const name = this.race.threads[thread];
      this.page.say(wait ? `${name} ${wait.sentence}` : `${name} has no step to take`);
      return;
    }
    if (this.path.fails && this.prediction !== undefined && !this.isRevealed) {
      this.hasFound = true;
      this.page.reveal(this.race.id);
    }
    this.update();
    this.page.say(this.report(edge));
  }

  back() {
    this.stop();
    if (this.path.length === 0) return;
    this.undone.unshift(this.path.edges.pop().key);
    this.update();
    this.page.say(`Back to step ${this.path.length}. ${this.counting()}`);
  }

  forward() {
    this.stop();
    if (this.undone.length > 0) this.step(this.undone.shift());
  }

  restart() {
    this.stop();
    this.undone = [...this.path.keys, ...this.undone];
    this.path = new Path(this.race);
    this.update();
    this.page.say(`Back to the beginning. ${this.counting()}`);
  }

  // Loads a schedule, up to the first step that does not fit.
  load(schedule, atEnd) {
    this.stop();
    const { path, problem } = this.race.walk(schedule);
    this.undone = atEnd ? [] : path.keys;
    this.path = atEnd ? path : new Path(this.race);
    this.update();
    if (problem) this.page.say(`The schedule ${schedule} does not fit: ${problem}`);
    this.problem.textContent = problem ? `The schedule ${schedule} does not fit: ${problem}.` : "";
  }

  goTo(counts, index) {
    const wanted = counts.join(",");
    const fits = path => path.counts().join(",") === wanted && (index === undefined || path.node === index);
    for (let length = this.path.length; length >= 0; length -= 1) {
      const found = this.search(this.path.first(length), counts, fits);
      if (found) {
        this.stop();
        this.path = found;
        this.undone = [];
        this.update();
        this.page.say(this.path.length > 0 ? this.report(this.path.edges[this.path.length - 1]) : "At the beginning.");
        return;
      }
    }
  }

  search(path, counts, fits) {
    if (path.counts().some((count, i) => count > counts[i])) return null;
    if (fits(path)) return path;
    for (const edge of this.race.nodes[path.node].edges) {
      const longer = path.first(path.length);
      longer.edges.push(edge);
      const found = this.search(longer, counts, fits);
      if (found) return found;
    }
    return null;
  }

  showMe() {
    this.page.reveal(this.race.id);
    const keys = this.race.counterexample || this.race.survivor;
    this.path = new Path(this.race);
    this.undone = keys.slice();
    this.update();
    const words = this.race.fails
      ? "This interleaving fails." : "No interleaving fails. This is one of them.";
    this.page.say(`${words} It has ${keys.length} steps. The right arrow takes the next one.`);
    this.advance.focus();
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
  }

  play() {
    this.stop();
    this.timer = setInterval(() => {
      if (this.undone.length === 0) this.stop();
      else this.step(this.undone.shift());
    }, 900);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
  }

  predict(answer) {
    this.page.predictions.set(this.race.id, answer);
    this.update();
    const target = this.predictSection.querySelector("button");
    if (target) target.focus();
  }

  key(event) {
    const letter = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    const thread = this.race.letters.indexOf(letter);
    if (thread >= 0) {
      this.take(letter + (event.shiftKey ? "-" : ""));
      return true;
    }
    const action = {
      ArrowLeft: () => this.back(), PageUp: () => this.back(), Backspace: () => this.back(),
      ArrowRight: () => this.forward(), PageDown: () => this.forward(),
      Home: () => this.restart(),
    }[event.key];
    if (action) action();
    return action !== undefined;
  }

  // MARK: Messages

  counting() {
    if (!this.isRevealed) return "";
    const { total, failing } = this.race;
    const all = total[this.path.node];
    const well = all - failing[this.path.node];
    if (this.path.ending) return "";
    const [one, many] = {
      all: ["interleaving", "interleavings"], kinds: ["kind of interleaving", "kinds of interleaving"],
      first: ["kind on this page", "kinds on this page"],
    }[this.race.data.coverage];
    if (well === 0) return all === 1 ? `From here the only ${one} fails.` : `From here every one of ${all} ${many} fails.`;
    if (well === all) return all === 1 ? `From here the only ${one} ends well.` : `From here all ${all} ${many} end well.`;
    return `From here ${well} of ${all} ${many} still end well.`;
  }

  verdict() {
    const { ending } = this.path;
    if (!ending) return "";
    if (ending.findings.length === 0) return "✓ every check holds";
    return ending.findings.map(index => `✗ ${this.race.reason(index)}`).join("; ");
  }

  report(edge) {
    const state = this.path.states()[this.path.length];
    const changes = state.changed.map(i => `${this.race.data.titles[i]} is now ${state.values[i]}`);
    return [
      `Step ${this.path.length}: ${this.race.threads[edge.label.thread]} ${phrase(edge.label)}`
        + (edge.label.site ? `, line ${edge.label.site.line}` : ""),
      ...changes, this.verdict() || this.counting(),
    ].filter(part => part !== "").join(". ");
  }

  // MARK: The page

  build() {
    const { data } = this.race;
    const section = (id, title, ...content) =>
      element("section", { id, "aria-labelledby": `${id}-title` },
        element("h2", { id: `${id}-title` }, title), ...content);
    this.predictSection = element("section", { id: "predict", "aria-label": "Predict first" });
    this.code = element("div", { class: "code", tabindex: 0, role: "group", "aria-label": "Source code" });
    this.buildCode();
    this.lanes = element("div", { class: "lanes" });
    this.backward = element("button", { type: "button", id: "back", onclick: () => this.back() }, "← Back");
    this.advance = element("button", { type: "button", id: "forward", onclick: () => this.forward() }, "Forward →");
    this.again = element("button", { type: "button", id: "restart", onclick: () => this.restart() }, "Restart");
    this.status = element("p", { class: "status" });
    this.objects = element("div", { class: "objects" });
    this.table = element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Steps taken" });
    this.schedule = element("p", { class: "schedule" });
    this.problem = element("p", { class: "problem", role: "alert" });
    this.mapSection = section("map", "The map of all interleavings", this.mapIntroduction(), this.map.node, this.map.caption, this.buildKinds());
    this.spaceTime = element("div", { class: "scroll spacetime" });
    this.details = element("details", { id: "order", ontoggle: () => this.updateOrder() },
      element("summary", {}, "Happens-before"),
      element("p", {}, "Time runs down. An arrow leads from a step to one that happens after it because of a lock or another synchronization. A dashed red line joins two conflicting accesses that nothing orders: a data race."),
      this.spaceTime);
    this.node = element("div", { class: "race" },
      element("h1", {}, prose(data.title)),
      data.story === "" ? null : element("p", { class: "story" }, prose(data.story)),
      this.predictSection,
      this.desk = element("div", { class: "desk" },
        section("source", "The source", element("p", { class: "quiet" }, "The next line of each thread is lit. You decide which thread continues."), this.code),
        section("hands", "You are the scheduler", this.lanes,
          element("p", { class: "moves" }, this.backward, this.advance, this.again), this.status, this.problem, this.objects),
        this.mapSection),
      section("steps", "Steps so far", this.table, this.schedule),
      this.details);
    this.update();
  }

  // Shows the declarations that contain steps; the lines between them are folded.
  buildCode() {
    this.lineNodes = new Map();
    for (const [file, ...bounds] of this.race.data.source) {
      const { path, lines } = this.race.files[file];
      const numbers = [];
      for (let i = 0; i < bounds.length; i += 2) {
        for (let number = bounds[i]; number <= bounds[i + 1]; number += 1) numbers.push(number);
      }
      const indentation = Math.min(...numbers.map(number => lines.get(number))
        .filter(content => content.trim() !== "").map(content => /^ */.exec(content)[0].length));
      const list = element("ol", { class: "lines" });
      let previous = 0;
      for (const number of numbers) {
        if (number > previous + 1) list.append(element("li", { class: "fold", "aria-hidden": "true" }, "⋯"));
        previous = number;
        const marks = element("span", { class: "marks" });
        const item = element("li", { class: "line", "data-line": number },
          element("span", { class: "number" }, String(number)), marks,
          element("code", {}, lines.get(number).slice(indentation) || " "));
        this.lineNodes.set(`${file}:${number}`, { item, marks });
        list.append(item);
      }
      this.code.append(element("h3", {}, path.split("/").slice(-2).join("/")), list);
    }
  }

  mapIntroduction() {
    const { threads } = this.race;
    this.legend = element("p", { class: "legend" });
    for (const [fate, words] of [["fails", "every interleaving fails"], ["mixed", "some fail"], ["survives", "none fails"]]) {
      this.legend.append(element("span", {}, drawingOfSign(fate), ` ${words} `));
    }
    if (threads.length === 2) this.legend.append(element("span", {}, element("span", { class: "swatch" }), " conflict "));
    this.mapText = element("p", {});
    const choice = (value, words) => element("label", {},
      element("input", {
        type: "radio", name: "map-kind", value, checked: value === "all",
        onchange: () => { this.map.onlyKinds = value === "kinds"; this.map.draw(this.path); },
      }), ` ${words}`);
    const { data } = this.race;
    return element("div", {}, this.mapText,
      element("fieldset", {}, element("legend", {}, "Show"),
        choice("all", data.coverage === "all" ? `all ${data.explored} interleavings` : "the states on these interleavings"),
        choice("kinds", `one of each kind: ${this.race.kinds().length}`)),
      this.legend);
  }

  buildKinds() {
    const kinds = this.race.kinds();
    const list = element("ol", { class: "kinds" });
    kinds.slice(0, 200).forEach(kind => {
      list.append(element("li", {},
        element("button", { type: "button", class: "link", onclick: () => this.load(kind.schedule, true) }, kind.schedule || "(no step)"),
        kind.fails ? ` ✗ ${clipped(this.race.reason(kind.path.ending.findings[0]), 90)}` : " ✓ ends well"));
    });
    return element("details", { class: "kind-list" },
      element("summary", {}, `The kinds, one by one (${kinds.length})`),
      element("p", {}, "Interleavings of one kind differ only in the order of steps that touch different objects, or that only read. They end in the same way, so the lab runs one of them."), list);
  }

  // MARK: After each step

  update() {
    // Read the width before anything changes; otherwise the browser has to lay out the page in
    // between.
    this.width = this.objects.clientWidth;
    this.page.remember(this.race.id, this.path.schedule);
    this.mapSection.hidden = !this.isRevealed;
    this.node.classList.toggle("revealed", this.isRevealed);
    this.updatePrediction();
    this.updateLanes();
    const firstLit = this.updateCode();
    this.updateStatus();
    this.updateTable();
    this.updateOrder();
    this.backward.disabled = this.path.length === 0;
    this.again.disabled = this.path.length === 0;
    this.advance.disabled = this.undone.length === 0;
    // What scrolls comes last, because it makes the browser lay out the page.
    if (this.isRevealed) {
      this.updateMapText();
      this.map.draw(this.path);
      this.desk.classList.toggle("wide", this.map.isWide);
    }
    if (firstLit) this.reveal(firstLit);
  }

  updatePrediction() {
    const { fails } = this.race;
    const parts = [];
    if (this.isRevealed) {
      if (this.prediction !== undefined) {
        const isRight = this.prediction === fails;
        parts.push(element("p", {}, element("strong", {}, this.hasFound ? "Found." : isRight ? "Your prediction was right." : "Your prediction was wrong."),
          ` ${this.summary()}`));
      } else {
        parts.push(element("p", {}, this.summary()));
      }
      parts.push(this.showButton());
    } else if (this.prediction === undefined) {
      parts.push(element("p", {}, element("strong", {}, "Predict first."), " Does every interleaving end well?"),
        element("p", { class: "moves" },
          element("button", { type: "button", id: "predict-survives", onclick: () => this.predict(false) }, "Yes, every one"),
          element("button", { type: "button", id: "predict-fails", onclick: () => this.predict(true) }, "No, some interleaving fails")));
    } else {
      parts.push(element("p", {}, this.prediction
        ? "Then find it: let the threads take their steps so that it fails. Or:"
        : "Try to prove yourself wrong: let the threads take their steps so that it fails. Or:"), this.showButton());
    }
    const hadFocus = this.predictSection.contains(document.activeElement);
    const id = hadFocus ? document.activeElement.id : "";
    put(this.predictSection, ...parts);
    if (hadFocus) {
      const again = id === "" ? null : this.predictSection.querySelector(`#${id}`);
      if (again) again.focus();
    }
  }

  showButton() {
    return element("button", { type: "button", id: "show-me", class: "main", onclick: () => this.showMe() },
      this.isRevealed && !this.race.fails ? "Show me one" : "Show me");
  }

  summary() {
    const { explored, failing, coverage } = this.race.data;
    const what = { all: "interleavings", kinds: "kinds of interleaving", first: "kinds of interleaving explored" }[coverage];
    return failing === 0 ? `None of the ${explored} ${what} fails.` : `${failing} of ${explored} ${what} fail.`;
  }

  updateMapText() {
    const { coverage, explored } = this.race.data;
    const kinds = this.race.kinds();
    const { threads } = this.race;
    const how = threads.length === 2
      ? `Each step of ${threads[0]} leads to the right, each step of ${threads[1]} down. `
      : "Each column holds the states after one more step. ";
    const size = coverage === "all"
      ? `There are ${explored} interleavings, of ${kinds.length} ${kinds.length === 1 ? "kind" : "kinds"}.`
      : `There are too many interleavings to show all of them. The page has one of each ${
        coverage === "kinds" ? `of ${explored} kinds` : `of the first ${kinds.length} of ${explored} kinds`}.`;
    this.mapText.textContent = how + size;
  }

  updateLanes() {
    const focused = document.activeElement && document.activeElement.dataset.key;
    put(this.lanes, ...this.race.threads.map((name, thread) => {
      const edges = this.race.nodes[this.path.node].edges.filter(edge => edge.label.thread === thread);
      const wait = this.path.waiting(thread);
      const lane = element("div", { class: `lane lane-t${thread % 8}` });
      const next = this.race.next(this.path.node, thread);
      const main = edges.find(edge => !edge.label.early) || null;
      const letter = this.race.letters[thread];
      const what = wait ? wait.sentence : next ? phrase(next) : "has ended";
      const place = wait ? wait.site : next && next.site;
      lane.append(element("button", {
        type: "button", class: "go", "data-key": letter, "aria-disabled": main ? null : "true",
        "aria-keyshortcuts": letter, onclick: () => this.take(letter),
      }, element("kbd", {}, letter), element("span", { class: "who" }, name),
      element("span", { class: "what" }, what + (place ? `, line ${place.line}` : ""))));
      const early = edges.find(edge => edge.label.early);
      if (early) {
        lane.append(element("button", {
          type: "button", class: "early", "data-key": `${letter}-`, "aria-keyshortcuts": `Shift+${letter}`,
          onclick: () => this.take(`${letter}-`),
        }, element("kbd", {}, `${letter}-`),
        early.label.failed ? " tries right before the lock is released, and fails" : " comes later than work sent before"));
      }
      return lane;
    }));
    if (focused) {
      const again = [...this.lanes.querySelectorAll("button")].find(button => button.dataset.key === focused);
      if (again) again.focus();
    }
  }

  updateCode() {
    for (const { item, marks } of this.lineNodes.values()) {
      if (marks.childElementCount > 0) {
        put(marks);
        item.className = "line";
      }
    }
    let firstLit = null;
    this.race.threads.forEach((name, thread) => {
      const wait = this.path.waiting(thread);
      const next = wait || this.race.next(this.path.node, thread);
      if (!next || !next.site) return;
      const line = this.lineNodes.get(`${next.site.file}:${next.site.line}`);
      if (!line) return;
      line.item.classList.add("lit", `lit-t${thread % 8}`);
      const waits = wait && !wait.isLater;
      line.marks.append(element("span", {
        class: `mark back-t${thread % 8}`, title: waits ? `${name} waits here` : `next line of ${name}`,
      }, this.race.letters[thread], waits ? "…" : ""));
      firstLit = firstLit || line.item;
    });
    const last = this.path.edges[this.path.length - 1];
    const line = last && last.label.site && this.lineNodes.get(`${last.label.site.file}:${last.label.site.line}`);
    if (line) line.item.classList.add("done");
    return firstLit;
  }

  // Scrolls only the code, not the page.
  reveal(item) {
    const top = item.offsetTop - this.code.offsetTop;
    if (top < this.code.scrollTop || top > this.code.scrollTop + this.code.clientHeight - 40) {
      this.code.scrollTop = Math.max(0, top - this.code.clientHeight / 3);
    }
  }

  updateStatus() {
    const verdict = this.verdict();
    const fatal = this.path.pointOfNoReturn;
    this.status.className = "status";
    if (verdict) this.status.classList.add(this.path.fails ? "fails" : "survives");
    const isFatal = this.isRevealed && fatal === this.path.length - 1 && fatal >= 0;
    if (this.isRevealed && this.race.fate(this.path.node) === "fails") this.status.classList.add("fails");
    put(this.status, 
      verdict || this.counting() || (this.path.length === 0 ? "Take the first step: press a button, or the key of a thread." : ""),
      isFatal && !verdict ? element("strong", {}, " This was the step that lost it.") : "");
    // In a presentation, the picture is drawn for a smaller width and then enlarged.
    const scale = this.page.isPresenting ? 1.5 : 1;
    const width = Math.max(280, Math.min(760, (this.width || 560) / scale));
    put(this.objects, objectsDrawing(this.path, width));
  }

  updateTable() {
    const { threads, columns } = this.race;
    const states = this.path.states();
    const fatal = this.isRevealed ? this.path.pointOfNoReturn : -1;
    const head = element("tr", {}, element("th", { scope: "col" }, "step"),
      threads.map((name, i) => element("th", { scope: "col", class: `text-t${i % 8}` }, name)),
      this.race.data.titles.map(title => element("th", { scope: "col" }, title)));
    const stateCells = state => columns.map((_, i) => element("td", {
      class: state.isLocked ? "quiet" : state.changed.includes(i) ? "changed" : "same",
    }, state.isLocked ? (i === 0 ? "(locked)" : "") : state.values[i]));
    const rows = columns.length === 0 ? [] : [element("tr", {}, element("td", {}),
      threads.map(() => element("td", {})), stateCells(states[0]))];
    const depth = threads.map(() => 0);
    this.path.edges.forEach((edge, index) => {
      const { thread, locks, failed, early } = edge.label;
      const before = depth[thread];
      depth[thread] = locks;
      const cells = threads.map((_, i) => {
        const isHeld = depth[i] > 0 || (i === thread && before > 0);
        const content = i === thread ? this.cell(edge.label) : "";
        return element("td", { class: `${isHeld ? `holds holds-t${i % 8}` : ""} ${i === thread ? `text-t${i % 8}` : ""}` }, content,
          i === thread && failed ? element("em", {}, early ? " fails, right before the release" : " fails") : null);
      });
      const row = element("tr", { class: index === fatal ? "fatal" : "" },
        element("td", { class: "number" }, String(index + 1)), cells, stateCells(states[index + 1]));
      rows.push(row);
      if (index === fatal) {
        rows.push(element("tr", { class: "fatal" }, element("td", {}),
          element("td", { colspan: threads.length + columns.length }, "← every continuation fails from here")));
      }
    });
    const waits = this.path.ending ? this.path.ending.waiting : [];
    for (const wait of waits) {
      rows.push(element("tr", { class: "fatal" }, element("td", {}, "–"),
        threads.map((_, i) => element("td", { class: `text-t${i % 8}` }, i === wait.thread ? this.line({ ...wait, site: this.race.site(wait.site) }) : "")),
        columns.length === 0 ? null : element("td", { colspan: columns.length }, wait.sentence)));
    }
    put(this.table, element("table", { class: "trace" }, element("thead", {}, head), element("tbody", {}, rows)),
      this.legendOfOwners());
    const text = this.path.schedule;
    const { command } = this.race.data;
    put(this.schedule, ...(text === "" ? ["No step yet."] : [
      "Schedule ", element("a", { href: this.page.link(this.race.id, text) }, text),
      this.path.ending && command ? [": ", element("code", {}, `${command} --schedule ${text}`)] : "",
    ].flat()));
  }

  // The class of each name in the table.
  legendOfOwners() {
    const { ending } = this.path;
    const shown = new Set([...this.path.edges.map(edge => edge.label), ...(ending ? ending.waiting : [])]
      .map(({ owner }) => owner));
    return this.race.data.owners.map(({ type, names }) => ({ type, names: names.filter(name => shown.has(name)) }))
      .filter(({ names }) => names.length > 0)
      .map(({ type, names }) => element("p", { class: "note owners" }, `${names.join(", ")}: ${type}`));
  }

  cell(label) {
    if (label.kind === "note") return element("span", {}, `» ${label.text}`);
    return this.line(label, label.remark || verbs[label.kind]);
  }

  // A line of source, the instance that it accesses, and what the line does not show.
  line({ text, owner, site, remark }, verb) {
    return [element("code", {}, text || (verb ? `(${verb})` : "")),
      owner === "" ? "" : element("span", { class: "owner" }, ` ${owner}`),
      site ? element("span", { class: "quiet" }, ` :${site.line}`) : "",
      text && remark ? ` ${remark}` : ""];
  }

  updateOrder() {
    if (!this.details.open) return;
    if (!this.race.knowsOrder) {
      put(this.spaceTime, element("p", { class: "note" }, "Not drawn here: tasks, groups and conditions order steps in ways that this picture does not know. The verdicts of the lab take them into account."));
      return;
    }
    const { ending } = this.path;
    const isElsewhere = ending && ending.race === 1 && this.path.races().length === 0;
    put(this.spaceTime, isElsewhere
      ? element("p", { class: "note" }, "The lab found a data race in this interleaving that this picture does not show: an arrow from an atomic operation orders nothing if the memory ordering is relaxed.") : null,
    this.path.length === 0
      ? element("p", { class: "note" }, "Take some steps first.")
      : spaceTimeDrawing(this.path, Math.max(300, Math.min(900, this.details.clientWidth - 20))));
  }
}

function drawingOfSign(fate) {
  return shape("svg", { viewBox: "0 0 18 18", width: 18, height: 18, "aria-hidden": "true" }, sign(9, 9, fate));
}
