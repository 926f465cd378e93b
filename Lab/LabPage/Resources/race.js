"use strict";

// What can be done with a race that the user steps through by hand. The subclass draws it.
class RaceActions {
  constructor(race, page) {
    this.race = race;
    this.page = page;
    this.path = new Path(race);
    this.undone = [];
    this.timer = null;
    this.map = new InterleavingMap(race, {
      goTo: (counts, index) => this.goTo(counts, index), show: schedule => this.load(schedule),
      walk: direction => this.walk(direction), point: step => this.link(step === null ? [] : [step]),
    });
  }

  get isRevealed() { return this.page.isRevealed(this.race.id); }
  get prediction() { return this.page.prediction(this.race.id); }

  // Whether verdicts are hidden: until the user has predicted or, in a presentation, until the
  // presenter reveals them.
  get isVeiled() {
    return !this.isRevealed && (this.page.isPresenting || this.prediction === undefined);
  }

  // MARK: Steps

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
    if (this.path.fails && !this.isVeiled && !this.isRevealed) {
      this.hasFound = true;
      this.page.reveal(this.race.id);
    }
    this.update();
    this.page.say(this.report());
  }

  back() { this.jump(this.path.length - 1); }
  forward() { this.jump(this.path.length + 1); }
  restart() { this.jump(0); }

  // Leads to a number of steps of the current interleaving; the others can be taken again.
  jump(count) {
    this.stop();
    const keys = [...this.path.keys, ...this.undone];
    if (count < 0 || count > keys.length || count === this.path.length) return;
    if (count === this.path.length + 1) return this.step(this.undone.shift());
    this.path = new Path(this.race);
    for (const key of keys.slice(0, count)) this.path.take(key);
    this.undone = keys.slice(count);
    this.update();
    this.page.say(count === 0 ? `At the beginning. ${this.counting()}` : `${this.report()}`);
  }

  // Loads a schedule, up to the first step that does not fit. Before a prediction, its steps are
  // only ready to be taken.
  load(schedule) {
    this.stop();
    const isSimilar = schedule.startsWith("~");
    const { path, problem } = isSimilar ? { path: this.similar(schedule.slice(1)), problem: null } : this.race.walk(schedule);
    const isAtEnd = !this.isVeiled && !isSimilar;
    this.undone = isAtEnd ? [] : path.keys;
    this.path = isAtEnd ? path : new Path(this.race);
    this.linked = schedule !== "" && !isAtEnd && !isSimilar;
    this.update();
    this.problem.textContent = problem ? `The schedule ${schedule} does not fit: ${problem}.` : "";
  }

  // The same moves as in another version of the race, as far as they are possible.
  similar(schedule) {
    const path = new Path(this.race);
    const keys = [];
    schedule.replace(/(.)(~\d+|[-!*]?)(\d*)/gu, (_, letter, mark, count) => {
      for (let i = 0; i < (count === "" ? 1 : Number(count)); i += 1) keys.push(letter.toUpperCase() + mark);
      return "";
    });
    path.takeSimilar(keys);
    return path;
  }

  goTo(counts, index) {
    const wanted = counts.join(",");
    for (let length = this.path.length; length >= 0; length -= 1) {
      const found = this.search(this.path.first(length), counts, path =>
        path.counts().join(",") === wanted && (index === undefined || path.node === index));
      if (found) {
        this.stop();
        this.path = found;
        this.undone = [];
        this.update();
        this.page.say(this.path.length > 0 ? this.report() : "At the beginning.");
        return;
      }
    }
  }

  search(path, counts, fits, seen = new Set()) {
    if (path.counts().some((count, i) => count > counts[i])) return null;
    if (fits(path)) return path;
    const key = placeKey(path.node, path.counts());
    if (seen.has(key)) return null;
    seen.add(key);
    for (const edge of this.race.nodes[path.node].edges) {
      const longer = path.first(path.length);
      longer.edges.push(edge);
      const found = this.search(longer, counts, fits, seen);
      if (found) return found;
    }
    return null;
  }

  // Walks in the map with the arrow keys, and announces the place.
  walk(direction) {
    this.page.say("");
    this.move(direction);
    this.page.say(`${this.map.nameOf(this.path.counts())}. ${this.page.live.textContent}`);
  }

  // In a grid, a direction is a thread. Otherwise up and down choose another step in place of the
  // last one.
  move(direction) {
    const { edges } = this.race.nodes[this.path.node];
    if (this.race.threads.length === 2) {
      if (direction === "left" || direction === "up") return this.back();
      const edge = edges.find(({ label }) => label.thread === (direction === "right" ? 0 : 1));
      return this.take(edge ? edge.key : this.race.letters[direction === "right" ? 0 : 1]);
    }
    if (direction === "left") return this.back();
    if (direction === "right") return edges.length > 0 ? this.take(this.undone[0] || edges[0].key) : undefined;
    if (this.path.length === 0) return undefined;
    const before = this.race.nodes[this.path.first(this.path.length - 1).node].edges;
    const at = before.indexOf(this.path.edges[this.path.length - 1]);
    const other = before[at + (direction === "down" ? 1 : -1)];
    if (!other) return undefined;
    this.path.edges.pop();
    return this.take(other.key);
  }

  // MARK: Predictions

  predict(answer) {
    this.page.predict(this.race.id, answer);
    if (this.linked) this.jump(this.path.length + this.undone.length);
    if (this.path.fails && !this.isVeiled) this.page.reveal(this.race.id);
    this.linked = false;
    this.update();
    this.focusOn("#show-me");
    this.page.say(this.isRevealed ? this.summary() : this.predictSection.querySelector("p").textContent);
  }

  // Reveals the answer, and prepares the interleaving that fails or, if none does, one that survives.
  showMe() {
    this.page.reveal(this.race.id);
    const keys = this.race.counterexample || this.race.survivor || [];
    this.path = new Path(this.race);
    this.undone = keys.slice();
    this.update();
    const words = this.race.fails
      ? "This interleaving fails." : "No interleaving fails. This is one of them.";
    this.page.say(`${words} The right arrow takes the next step.`);
    this.focusOn("#forward");
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
  }

  play() {
    this.stop();
    this.timer = setInterval(() => {
      if (this.undone.length > 0) this.step(this.undone.shift());
      if (this.undone.length === 0) {
        this.stop();
        this.update();
      }
    }, 1100);
    this.update();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
  }

  key(event) {
    const letter = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    const thread = this.race.letters.indexOf(letter);
    if (thread >= 0) {
      const other = event.shiftKey && this.race.nodes[this.path.node].edges
        .find(({ label }) => label.thread === thread && label.mark !== "");
      this.take(other ? other.key : letter);
      return true;
    }
    const isAtEnd = this.undone.length === 0;
    const action = {
      ArrowLeft: () => this.back(), Backspace: () => this.back(), Home: () => this.restart(),
      ArrowRight: () => this.forward(), End: () => this.jump(this.path.length + this.undone.length),
      // A remote control sends these. Without a step to take, they scroll the page as usual.
      PageUp: this.path.length > 0 ? () => this.back() : undefined,
      PageDown: isAtEnd ? undefined : () => this.forward(),
      "?": () => this.answer(),
    }[event.key];
    if (action) action();
    return action !== undefined;
  }

  // The key of the presenter: shows the verdicts, and what they are about.
  answer() {
    if (!this.isRevealed && (this.page.isPresenting || this.prediction !== undefined)) this.showMe();
  }

  // MARK: Messages

  // How many kinds of interleavings still end well.
  counting() {
    if (!this.isRevealed || this.path.ending) return "";
    const fate = this.race.fate(this.path.node);
    const from = this.race.kindsFrom(this.path.node);
    const kinds = this.race.data.coverage === "all" ? "kinds of interleavings" : "kinds of interleavings on this page";
    const well = from.all - from.failing;
    if (fate === "fails") return from.all === 1 ? "From here on it fails." : `From here all ${from.all} ${kinds} fail.`;
    if (fate === "survives") return from.all === 1 ? "From here on it ends well." : `From here all ${from.all} ${kinds} end well.`;
    return `From here ${well} of ${from.all} ${kinds} still end well.`;
  }

  // The number that the matrix and the terminal show, too.
  summary() {
    const { explored, failing, coverage } = this.race.data;
    const kinds = `${explored === 1 ? "kind" : "kinds"} of interleavings`;
    const what = coverage !== "all" ? `${kinds} explored`
      : this.race.kindCount === explored ? kinds : "interleavings that the lab ran";
    const verb = failing === 1 ? "fails" : "fail";
    if (explored === 1) return `There is one kind of interleavings, and it ${failing === 1 ? "fails" : "ends well"}.`;
    return failing === 0 ? `None of the ${explored} ${what} fails.` : `${failing} of ${explored} ${what} ${verb}.`;
  }

  verdict() {
    const { ending } = this.path;
    if (!ending) return "";
    if (this.isVeiled) return this.page.isPresenting ? "This interleaving has ended. Did it end well?" : "This interleaving has ended. Predict, and see how.";
    if (ending.findings.length === 0) return "✓ every check holds";
    return ending.findings.map(index => `✗ ${this.race.reason(index)}`).join("; ");
  }

  // What the last step did.
  report() {
    const isDecisive = this.isRevealed && this.path.pointOfNoReturn === this.path.length - 1;
    return [
      ...told(this.path, this.path.length - 1).map((text, i) => i === 0 ? `Step ${this.path.length}: ${text}` : text),
      this.verdict() || this.counting(), isDecisive ? `This step decided it. ${decision(this.path)}` : "",
    ].filter(part => part !== "").join(". ");
  }
}
