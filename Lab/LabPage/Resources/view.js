"use strict";

// Draws a race: the story, the source, the threads' next steps, the state and the map.
class RaceView extends RaceActions {
  constructor(race, page) {
    super(race, page);
    this.build();
  }

  // MARK: The page

  build() {
    const { data } = this.race;
    const story = this.page.frame.stories[data.story];
    const section = (id, title, ...content) =>
      element("section", { id, "aria-labelledby": `${id}-title` },
        element("h2", { id: `${id}-title` }, title), ...content);
    const button = (id, text, label, act) =>
      element("button", { type: "button", id, "aria-label": label, title: /\w/.test(text) ? null : label, onclick: act }, text);
    this.predictSection = element("section", { id: "predict", "aria-label": "Predict first" });
    this.code = element("div", {
      class: "code", tabindex: 0, role: "group", "aria-label": "Source code", style: `--threads: ${this.race.threads.length}`,
    });
    this.buildCode();
    this.backward = button("back", "← Back", "Back", () => this.back());
    this.advance = button("forward", "Forward →", "Forward", () => this.forward());
    this.again = button("restart", "↺", "Restart", () => this.restart());
    this.player = button("play", "▶", "Play", () => { if (this.timer) { this.stop(); this.update(); } else this.play(); });
    this.scrubber = element("input", {
      type: "range", id: "scrubber", min: 0, step: 1, "aria-label": "Step",
      oninput: () => this.jump(Number(this.scrubber.value)),
    });
    this.status = element("div", { class: "status" });
    this.objects = element("div", { class: "objects" });
    this.table = element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Steps taken" });
    this.schedule = element("p", { class: "schedule" });
    this.problem = element("p", { class: "problem", role: "alert" });
    this.mapText = element("p", { class: "quiet" });
    this.mapSection = section("map", "The map of all interleavings", this.mapText, this.map.node, this.map.caption, this.mapTools());
    this.kindList = element("details", { class: "kind-list", ontoggle: () => this.updateKinds() }, element("summary", {}, "The kinds of interleavings, one by one"));
    this.spaceTime = element("div", { class: "scroll spacetime" });
    this.details = element("details", { id: "order", ontoggle: () => this.updateOrder() },
      element("summary", {}, "Happens-before"),
      element("p", {}, "Time runs down. An arrow leads from a step to one that happens after it because of a lock or another synchronization. A dashed arrow joins atomic operations: it orders something only if their memory orderings are strong enough. A dashed red line joins two conflicting accesses that nothing orders: a data race."),
      this.spaceTime);
    this.node = element("div", { class: "race" },
      element("div", { class: "screen" },
        element("div", { class: "tale" },
          element("h1", {}, this.page.front ? [this.page.front.titleOf(this.race.id), " ", element("small", {}, prose(data.title))] : prose(data.title)),
          story === "" ? null : element("p", { class: "story" }, prose(story), this.page.front ? this.page.front.cast(this.race) : null),
          this.predictSection),
        this.desk = element("div", { class: "desk" },
          section("source", "The source", this.code),
          section("hands", "You are the scheduler", this.lanes(),
            element("p", { class: "moves" }, this.again, this.backward, this.advance, this.player, this.scrubber),
            this.status, this.problem, this.objects),
          this.mapSection)),
      section("steps", "Steps so far", this.table, this.schedule),
      this.kindList, this.details);
    // The drawing has a size in pixels, which is known only when the page is laid out.
    new ResizeObserver(([{ contentRect }]) => {
      this.width = contentRect.width;
      this.drawObjects();
    }).observe(this.objects);
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
        const item = element("li", {
          class: "line", "data-line": number,
          onpointerenter: () => this.link(this.stepsAt(file, number)), onpointerleave: () => this.link([]),
        },
          element("span", { class: "number" }, String(number)), marks,
          element("code", {}, lines.get(number).slice(indentation) || " "));
        this.lineNodes.set(`${file}:${number}`, { item, marks });
        list.append(item);
      }
      this.code.append(element("h3", {}, path.split("/").slice(-2).join("/")), list);
    }
  }

  // A button for each thread, and one for another way in which its step can end.
  lanes() {
    this.buttons = this.race.threads.map((name, thread) => {
      const letter = this.race.letters[thread];
      const what = element("span", { class: "what" });
      const go = element("button", {
        type: "button", class: "go", "data-key": letter, "aria-keyshortcuts": letter, onclick: () => this.take(letter),
      }, element("kbd", {}, letter), element("span", { class: "who" }, name), what);
      const others = element("div", { class: "others" });
      return { go, what, others, node: element("div", { class: `lane lane-t${thread % 4}` }, go, others) };
    });
    return element("div", { class: "lanes" }, this.buttons.map(({ node }) => node));
  }

  mapTools() {
    const legend = element("p", { class: "legend" });
    for (const [fate, words] of [["fails", "every interleaving fails"], ["mixed", "some fail"], ["survives", "none fails"]]) {
      legend.append(element("span", {}, drawingOfSign(fate), ` ${words} `));
    }
    if (this.race.threads.length === 2) legend.append(element("span", {}, element("span", { class: "swatch" }), " conflict "));
    const choice = (value, words) => element("label", {},
      element("input", {
        type: "radio", name: "map-kind", value, checked: value === "all",
        onchange: () => { this.map.onlyKinds = value === "kinds"; this.map.draw(this.path); },
      }), ` ${words}`);
    this.tools = element("div", { class: "tools-of-map" }, legend,
      element("fieldset", {}, element("legend", {}, "Show"), choice("all", "all interleavings"), choice("kinds", "one of each kind")));
    return this.tools;
  }

  // MARK: After each step

  update() {
    this.page.remember(this.race.id, this.path.schedule);
    this.node.classList.toggle("revealed", this.isRevealed);
    this.updatePrediction();
    this.updateLanes();
    const firstLit = this.updateCode();
    this.updateStatus();
    this.updateTable();
    this.updateOrder();
    this.updateKinds();
    this.updateMoves();
    this.drawObjects();
    // What reads a position comes last: the browser lays out the page for it.
    this.updateMap();
    if (firstLit) this.reveal(firstLit);
  }

  updateMoves() {
    const all = this.path.length + this.undone.length;
    const off = (node, isOff) => node.setAttribute("aria-disabled", String(isOff));
    off(this.backward, this.path.length === 0);
    off(this.again, this.path.length === 0);
    off(this.advance, this.undone.length === 0);
    off(this.player, this.undone.length === 0 && !this.timer);
    this.player.textContent = this.timer ? "❚❚" : "▶";
    for (const name of ["aria-label", "title"]) this.player.setAttribute(name, this.timer ? "Pause" : "Play");
    this.scrubber.max = all;
    this.scrubber.value = this.path.length;
    this.scrubber.disabled = all === 0;
    this.scrubber.setAttribute("aria-valuetext", `${this.path.length} of ${all}`);
  }

  updatePrediction() {
    const { fails } = this.race;
    const parts = [];
    const answer = (id, value, words) => element("button", { type: "button", id, onclick: () => this.predict(value) }, words);
    if (this.isRevealed) {
      const isRight = this.prediction === fails;
      const words = this.prediction === undefined || this.prediction === null || this.page.isPresenting ? ""
        : this.hasFound && isRight ? "Found: your prediction was right. " : isRight ? "Your prediction was right. " : "Your prediction was wrong. ";
      parts.push(element("p", {}, words === "" ? null : element("strong", {}, words), this.summary()), this.showButton(), this.whatNext());
    } else if (this.page.isPresenting) {
      parts.push(element("p", {}, element("strong", {}, "Show of hands:"), " does every interleaving end well?"),
        element("button", { type: "button", id: "show-me", class: "main", onclick: () => this.answer() }, element("kbd", {}, "?"), " Reveal"));
    } else if (this.prediction === undefined) {
      parts.push(element("p", {}, element("strong", {}, "Predict first."), " Does every interleaving end well?",
        this.linked ? " The link leads to one: predict, and it is shown." : ""),
      element("p", { class: "moves" },
        answer("predict-survives", false, "Yes, every one"), answer("predict-fails", true, "No, some fail"),
        answer("predict-not", null, "I do not know yet")));
    } else {
      parts.push(element("p", {}, this.prediction === false
        ? "Try to prove yourself wrong: let the threads take their steps so that it fails. Or:"
        : "Then look for an order that fails: let the threads take their steps. Or:"), this.showButton());
    }
    const hadFocus = this.predictSection.contains(document.activeElement);
    put(this.predictSection, ...parts);
    if (hadFocus) this.focusOn("#predict button");
  }

  showButton() {
    return element("button", { type: "button", id: "show-me", class: "main", onclick: () => this.showMe() },
      this.isRevealed && !this.race.fails ? "Show me one" : "Show me");
  }

  focusOn(selector) {
    const target = this.node.querySelector(selector);
    if (target && document.contains(target)) target.focus({ preventScroll: true });
  }

  updateLanes() {
    this.race.threads.forEach((name, thread) => {
      const { go, what, others } = this.buttons[thread];
      const edges = this.race.nodes[this.path.node].edges.filter(edge => edge.label.thread === thread);
      const wait = this.path.waiting(thread);
      const next = this.race.next(this.path.node, thread);
      const main = edges.find(edge => edge.label.mark === "");
      const place = wait ? wait.site : next && next.site;
      what.textContent = (wait ? wait.sentence : next ? phrase(this.race, next) : "has ended") + (place ? `, line ${place.line}` : "");
      if (main) go.removeAttribute("aria-disabled");
      else go.setAttribute("aria-disabled", "true");
      const keys = edges.filter(edge => edge.label.mark !== "").map(edge => edge.key).join(" ");
      if (others.dataset.keys === keys) return;
      others.dataset.keys = keys;
      const hadFocus = others.contains(document.activeElement);
      put(others, edges.filter(edge => edge.label.mark !== "").map(({ key, label }) => element("button", {
        type: "button", class: "early", "data-key": key, "aria-keyshortcuts": `Shift+${key[0]}`, onclick: () => this.take(key),
      }, element("kbd", {}, key), ` ${otherwise(label)}`)));
      if (hadFocus) go.focus({ preventScroll: true });
    });
  }

  updateCode() {
    for (const { item, marks } of this.lineNodes.values()) {
      if (marks.childElementCount > 0) put(marks);
      if (item.className !== "line") item.className = "line";
    }
    let firstLit = null;
    this.race.threads.forEach((name, thread) => {
      const wait = this.path.waiting(thread);
      const next = wait || this.race.next(this.path.node, thread);
      if (!next || !next.site) return;
      const line = this.lineNodes.get(`${next.site.file}:${next.site.line}`);
      if (!line) return;
      line.item.classList.add("lit", `lit-t${thread % 4}`);
      const waits = wait !== null;
      line.marks.append(element("span", {
        class: `mark ${waits ? "waits text" : "back"}-t${thread % 4}`, title: waits ? `${name} waits here` : `next line of ${name}`,
      }, this.race.letters[thread]));
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
    const fatal = this.isRevealed ? this.path.pointOfNoReturn : -1;
    const hasEnded = verdict !== "" && !this.isVeiled;
    this.status.className = "status";
    if (hasEnded) this.status.classList.add(this.path.fails ? "fails" : "survives");
    else if (this.isRevealed && fatal >= 0) this.status.classList.add("fails");
    // At the end, the verdict says who waits.
    const last = this.path.length === 0
      ? ["Press a button, or the key of a thread: it takes its next step."] : told(this.path, this.path.length - 1);
    put(this.status,
      element("p", { class: "deed" }, (hasEnded ? last.slice(0, 1) : last).join(". "), last.length > 0 && this.path.length > 0 ? "." : ""),
      element("p", { class: "state-line" }, this.stateLine()),
      element("p", { class: "verdict-now" }, verdict || this.counting()),
      fatal >= 0 && (hasEnded || fatal === this.path.length - 1)
        ? element("p", { class: "why" }, element("strong", {}, `Step ${fatal + 1} decided it. `), decision(this.path)) : null);
  }

  // The state as text, where there is no room for the drawing.
  stateLine() {
    const states = this.path.states();
    const { values, isLocked } = states[states.length - 1];
    return this.race.data.titles.map((title, i) => `${title}: ${isLocked ? "(locked)" : values[i]}`).join("   ");
  }

  // After an interleaving that was understood: the repair, and the next race.
  whatNext() {
    const ways = this.path.ending && this.page.front ? this.page.front.after(this.race, this.path.schedule) : [];
    return ways.length === 0 ? null : element("p", { class: "moves next" },
      ways.map(({ href, text }) => element("a", { href, class: "start" }, text)));
  }

  drawObjects() {
    if (!this.width) return;
    put(this.objects, objectsDrawing(this.path, Math.max(280, Math.min(760, this.width)), !this.isVeiled));
  }

  // The number of kinds can be smaller than that of the interleavings that were run: the lab cannot
  // always tell before a run that only the order of independent steps will be different.
  updateMap() {
    const { explored, coverage } = this.race.data;
    const { threads } = this.race;
    const how = threads.length === 2
      ? `A step of ${threads[0]} leads to the right, a step of ${threads[1]} down. `
      : "Each column holds the states after one more step. ";
    const orders = this.race.total[this.race.root];
    const kinds = this.isRevealed ? this.race.kindCount : 0;
    const size = !this.isRevealed ? "It grows with what you try."
      : coverage === "all" ? `${orders.toLocaleString("en")} ${orders === 1 ? "order" : "orders"} of steps, of ${kinds} ${kinds === 1 ? "kind" : "kinds"}.`
          + (kinds === explored ? "" : ` The lab ran ${explored} interleavings: of some kinds, it ran more than one.`)
        : `Of ${explored} kinds, the page has the first ${kinds}.`;
    this.mapText.textContent = how + size;
    this.tools.hidden = !this.isRevealed;
    this.map.draw(this.path, this.isRevealed, this.isVeiled);
    this.desk.classList.toggle("wide", this.map.isWide);
  }

  updateKinds() {
    this.kindList.hidden = !this.isRevealed;
    if (!this.isRevealed || !this.kindList.open || this.hasKinds) return;
    this.hasKinds = true;
    const list = element("ol", { class: "kinds" });
    this.race.kinds().slice(0, 200).forEach(kind => {
      list.append(element("li", {},
        element("button", { type: "button", class: "link", onclick: () => this.load(kind.schedule) }, kind.schedule || "(no step)"),
        kind.fails ? ` ✗ ${clipped(this.race.reason(kind.path.ending.findings[0]), 90)}` : " ✓ ends well"));
    });
    this.kindList.append(
      element("p", {}, "Interleavings of one kind differ only in the order of steps that touch different objects, or that only read. They end in the same way."), list);
  }

  updateTable() {
    const fatal = this.isRevealed ? this.path.pointOfNoReturn : -1;
    const focused = this.table.contains(document.activeElement) ? document.activeElement.closest("[data-step]") : null;
    put(this.table, stepsTable(this.path, { fatal, isVeiled: this.isVeiled, view: this }), this.legendOfOwners());
    if (focused) this.focusOn(`[data-step="${Math.min(focused.dataset.step, this.path.length - 1)}"] button`);
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

  // MARK: A step in the map, the table and the source is one thing

  stepsAt(file, line) {
    return this.path.edges.map((edge, i) => i)
      .filter(i => { const { site } = this.path.edges[i].label; return site && site.file === file && site.line === line; });
  }

  // Lights up steps of the path, wherever they are shown.
  link(steps) {
    this.node.querySelectorAll(".linked").forEach(node => node.classList.remove("linked"));
    for (const step of steps) {
      const row = this.table.querySelector(`[data-step="${step}"]`);
      if (row) row.classList.add("linked");
      const { site } = this.path.edges[step].label;
      const line = site && this.lineNodes.get(`${site.file}:${site.line}`);
      if (line) line.item.classList.add("linked");
    }
    this.map.light(steps.map(step => this.path.first(step + 1)));
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
      ? element("p", { class: "note" }, "The lab found a data race in this interleaving that this picture does not show: a dashed arrow orders nothing if a memory ordering is relaxed.") : null,
    this.path.length === 0
      ? element("p", { class: "note" }, "Take some steps first.")
      : spaceTimeDrawing(this.path, Math.max(300, Math.min(900, this.details.clientWidth - 20))));
  }
}

function drawingOfSign(fate) {
  return shape("svg", { viewBox: "0 0 18 18", width: 18, height: 18, "aria-hidden": "true" }, sign(9, 9, fate));
}
