"use strict";

// The opening: a race without a line of code first. The moves are a coarse reading of the steps that
// the lab recorded: each move takes steps of a thread in a race of this page.

// The moves of R01 on Stage 1. Ana registers a handler: she looks at the state, and then leaves a note
// or takes the letter. Ben fulfills the promise: he sets the state, and then looks for a note.
const looksAtState = label => label.kind === "read" && label.name === "state";
const setsState = label => label.kind === "modify" && label.name === "state";

// The order of the four moves in an interleaving of R01 on Stage 1, such as ABBA. A move is where
// its effect is: the second one of Ana is the step after she looked that Ben can see or, if she saw
// the letter, her next one.
function coarse(path) {
  const labels = path.edges.map(edge => edge.label);
  const place = (thread, fits, from = -1) =>
    labels.findIndex((label, i) => i > from && label.thread === thread && fits(label));
  const looks = place(0, looksAtState);
  const leavesNote = place(0, label => label.kind === "modify" && label.name === "f_then", looks);
  const puts = place(1, setsState);
  return [
    ["A", looks], ["A", leavesNote < 0 ? place(0, () => true, looks) : leavesNote],
    ["B", puts], ["B", place(1, label => label.kind === "read", puts)],
  ].sort((a, b) => a[1] - b[1]).map(([letter]) => letter).join("");
}

// A race that is played in moves. A move takes the steps of its thread up to a last one.
class Game {
  // - endsMove: whether a move ends with a step, or goes on; told whether it is the first move.
  constructor(race, endsMove) {
    this.race = race;
    this.endsMove = endsMove;
    this.start();
  }

  start() {
    this.path = new Path(this.race);
    this.order = "";
    // How many steps were taken before the last move.
    this.before = 0;
  }

  edge(thread) { return this.race.nodes[this.path.node].edges.find(({ label }) => label.thread === thread); }

  move(thread) {
    let edge = this.edge(thread);
    if (!edge) return false;
    const isFirst = !this.order.includes("AB"[thread]);
    this.before = this.path.length;
    while (edge) {
      this.path.take(edge.key);
      if (this.endsMove(edge.label, isFirst)) break;
      edge = this.edge(thread);
    }
    this.order += "AB"[thread];
    return true;
  }

  get hasEnded() { return this.path.ending !== null; }
  get fails() { return this.path.fails; }
  get isDelivered() { return this.path.edges.some(({ label }) => label.kind === "note"); }
  value(column) {
    const states = this.path.states();
    return states[states.length - 1].values[this.race.columns.indexOf(column)];
  }
}

class Opening {
  constructor(page) {
    this.page = page;
    this.saved = page.store.get("opening", { screen: 0, tried: [], locked: [] });
    this.naive = new Game(page.raceOf("R01/stage1"), (label, isFirst) => isFirst && (looksAtState(label) || setsState(label)));
    this.locked = new Game(page.raceOf("R01/stepA"), () => false);
    this.keys = new Game(page.raceOf("R10/stepA"), () => true);
    this.returned = new Game(page.raceOf("R10/stepB"), () => true);
    // Which of the six orders lose the letter: what the program does in each.
    this.outcomes = new Map();
    for (const path of this.naive.race.paths()) this.outcomes.set(coarse(path), path.fails);
  }

  // The moves of Ana and Ben, for the map.
  static moves = [["looks", "note or takes"], ["letter in", "looks for note"]];

  static needed = ["R01/stage1", "R01/stepA", "R10/stepA", "R10/stepB"];

  get screens() {
    return [
      () => this.mailbox(), () => this.search(), () => this.kinds(), () => this.inSwift(),
      () => this.withLock(), () => this.whatItBreaks(), () => this.whatFixes(), () => this.end(),
    ];
  }

  save() { this.page.store.set("opening", this.saved); }
  get isDone() { return this.saved.screen >= this.screens.length - 1; }

  show(screen) {
    this.number = Math.max(0, Math.min(screen, this.screens.length - 1));
    if (this.number > this.saved.screen || screen === 0) this.saved.screen = this.number;
    this.save();
    this.moved = null;
    for (const game of [this.naive, this.locked, this.keys, this.returned]) game.start();
    this.draw();
  }

  draw() {
    const focused = document.activeElement && document.activeElement.id;
    const before = this.page.main.querySelector(".code");
    const { scrollLeft, scrollTop } = before || {};
    this.page.view = this;
    put(this.page.main, this.screens[this.number]());
    const code = this.page.main.querySelector(".code");
    const lit = this.page.main.querySelector(".lit");
    if (code && before) Object.assign(code, { scrollLeft, scrollTop });
    if (lit) {
      code.scrollTop += lit.getBoundingClientRect().top - code.getBoundingClientRect().top - code.clientHeight / 2;
    }
    this.page.head(`${this.page.frame.title}: the opening`);
    if (focused) this.focusOn(focused, "again", "move-0", "next");
  }

  // Focuses the first of some elements that is there.
  focusOn(...ids) {
    const found = ids.map(id => document.getElementById(id)).find(node => node);
    if (found) found.focus({ preventScroll: true });
  }

  update() { this.draw(); }

  key(event) {
    const thread = ["A", "B"].indexOf(event.key.toUpperCase());
    const button = thread >= 0 ? document.getElementById(`move-${thread}`)
      : { ArrowRight: document.getElementById("next"), ArrowLeft: document.getElementById("previous") }[event.key];
    if (!button) return false;
    button.click();
    return true;
  }

  // MARK: Parts of a screen

  frame(title, ...content) {
    const last = this.screens.length - 1;
    return element("div", { class: "opening" },
      element("p", { class: "quiet" }, `${this.number + 1} of ${last + 1}${this.number === 0 ? " · five minutes, no programming needed" : ""}`),
      element("h1", {}, title), content,
      element("p", { class: "moves turn" },
        this.number === 0 ? null : element("a", { id: "previous", href: `#play/${this.number}` }, "← Back"),
        this.number === last ? null : element("a", { id: "next", class: this.isReady() ? "start" : "", href: `#play/${this.number + 2}` }, this.isReady() ? "Next →" : "Skip →")));
  }

  isReady() {
    return [
      () => this.saved.tried.length > 0, () => this.saved.tried.some(order => this.outcomes.get(order)), () => true, () => this.naive.hasEnded,
      () => this.saved.locked.length === 2, () => this.keys.hasEnded, () => this.returned.hasEnded, () => true,
    ][this.number]();
  }

  // The buttons of Ana and Ben, or, after the last move, the one to play again.
  moveButtons(game, words, again = "Play another order") {
    if (game.hasEnded) {
      return element("p", { class: "moves over" },
        element("button", { type: "button", id: "again", class: "main", onclick: () => this.playAgain(game) }, again));
    }
    return element("div", { class: "lanes" }, [0, 1].map(thread => {
      const what = words(thread);
      return element("div", { class: `lane lane-t${thread}` }, element("button", {
        type: "button", class: "go", id: `move-${thread}`, "aria-disabled": what.can ? null : "true", "aria-keyshortcuts": "AB"[thread],
        onclick: () => this.play(game, thread, what.text + (what.more || "")),
      }, element("kbd", {}, "AB"[thread]), element("span", { class: "who" }, ["Ana", "Ben"][thread]), element("span", { class: "what" }, what.text)));
    }));
  }

  playAgain(game) {
    game.start();
    this.moved = null;
    this.draw();
    this.announce("From the beginning.");
  }

  play(game, thread, text) {
    if (!game.move(thread)) return;
    this.moved = `${["Ana", "Ben"][thread]} ${text}.`;
    if (game === this.naive && game.hasEnded && !this.saved.tried.includes(game.order)) this.saved.tried.push(game.order);
    if (game === this.locked && game.hasEnded && !this.saved.locked.includes(game.order)) this.saved.locked.push(game.order);
    this.save();
    this.draw();
    if (game.hasEnded) this.focusOn("again");
    this.announce();
  }

  // Announces what happened and, after the last move, how many orders were tried.
  announce(before = "") {
    const tried = document.getElementById("again") && document.querySelector(".tried");
    this.page.say([before, document.querySelector(".told").textContent, tried ? tried.textContent : ""].join(" ").trim());
  }

  // What is said, a picture, and what can be done.
  stage(said, picture, ...done) {
    return element("div", { class: "two stage" }, element("div", { class: "said" }, said),
      element("div", { class: "scene" }, picture), element("div", { class: "done-here" }, done));
  }

  told(text, className = "") { return element("p", { class: `told ${className}`.trim() }, text); }

  // MARK: One mailbox

  // The next move of a person in the race of the mailbox.
  naiveMove(thread) {
    const game = this.naive;
    const next = game.race.next(game.path.node, thread);
    if (!next) return { can: false, text: thread === 0 && !game.isDelivered ? "waits, and does not look again" : "has no moves left" };
    const isFirst = game.path.counts()[thread] === 0;
    if (thread === 1) {
      return isFirst ? { can: true, text: "puts the letter into the mailbox" }
        : { can: true, text: "looks for a note", more: game.value("f_then") === "set" ? ", finds one, and brings Ana the letter" : ", finds none, and goes home" };
    }
    if (isFirst) return { can: true, text: "looks into the mailbox", more: game.value("state") === "fulfilled" ? ": the letter is there" : ": no letter" };
    return { can: true, text: this.sawLetter() ? "takes the letter" : "leaves her note, because she saw no letter" };
  }

  // Whether Ana saw the letter when she looked: the line on which the program goes on.
  sawLetter() {
    const { path } = this.naive;
    const at = path.edges.findIndex(({ label }) => label.thread === 0 && looksAtState(label));
    return path.first(at).edges.some(({ label }) => setsState(label));
  }

  // What Ana believes after she has looked.
  thought() {
    const moves = [...this.naive.order].filter(letter => letter === "A").length;
    if (moves === 0 || this.naive.isDelivered) return "";
    return moves === 2 ? "Ben will bring it" : this.sawLetter() ? "a letter!" : "no letter";
  }

  // Whether Ben has made both moves, and has gone home.
  get isHome() {
    const game = this.naive;
    return game.order.replaceAll("A", "").length === 2 && !(game.isDelivered && game.value("f_then") === "set");
  }

  scene() {
    const game = this.naive;
    return mailboxScene({
      hasLetter: game.value("state") === "fulfilled", hasNote: game.value("f_then") === "set" && !game.isDelivered,
      isDelivered: game.isDelivered, isBrought: game.isDelivered && game.value("f_then") === "set",
      isLost: game.hasEnded && game.fails, thought: this.thought(), isHome: this.isHome,
    });
  }

  result() {
    const game = this.naive;
    if (!game.hasEnded) return this.told(this.moved || "Choose who moves first.");
    if (game.fails) return this.told(`${this.moved} But Ben has already looked for a note, and gone home. Ana never looks again: the letter is lost.`, "fails");
    return this.told(`${this.moved} Ana has her letter.`, "survives");
  }

  map(current) {
    return ordersMap({
      orders: this.saved.tried.slice().sort(), size: 2, lost: order => this.outcomes.get(order), current,
      titles: Opening.moves,
    });
  }

  legend() {
    return element("p", { class: "quiet" }, "Each line is one order, from the top left: a move of Ana goes right, one of Ben goes down. The ring is where you are; gray bars keep the lines apart. A line ends in ● if Ana gets her letter, and in ✗ if the letter is lost.");
  }

  // An order in words: Ana, Ben, Ben, Ana.
  inNames(order) { return [...order].map(letter => ({ A: "Ana", B: "Ben" }[letter])).join(", "); }

  slots() {
    const all = [...this.outcomes.keys()];
    const tried = this.saved.tried;
    return element("ol", { class: "slots" }, all.map((_, i) => tried[i] === undefined
      ? element("li", { class: "open" }, "?")
      : element("li", { class: this.outcomes.get(tried[i]) ? "fails" : "survives" }, `${this.outcomes.get(tried[i]) ? "✗" : "✓"} ${this.inNames(tried[i])}`)));
  }

  mailbox() {
    return this.frame("Two people and a mailbox", this.stage(
      [element("p", {}, element("strong", {}, "Ana"), " wants a letter. She looks into the mailbox. If the letter is there, she takes it. If not, she leaves a note on the mailbox, “bring it to me”, and waits."),
      element("p", {}, element("strong", {}, "Ben"), " has the letter. He puts it into the mailbox. Then he looks for a note. If there is one, he brings Ana the letter. If not, he goes home."),
      element("p", {}, element("strong", {}, "Each of them looks only once."), " You decide who moves next: press a button.")],
      this.scene(), this.result(), this.moveButtons(this.naive, thread => this.naiveMove(thread))));
  }

  search() {
    const found = this.saved.tried.length;
    const all = this.outcomes.size;
    const hasLost = this.saved.tried.some(order => this.outcomes.get(order));
    return this.frame(found === all ? `You have found all ${all} orders` : "Can the letter get lost?",
      element("p", {}, found === all ? "This is the complete map: whatever Ana and Ben do, they follow one of these lines."
        : `Ana and Ben make two moves each. Only the order differs, and there are ${all} orders. ${hasLost ? "One order loses the letter. Try the rest, or go on." : "Find the one that loses the letter."}`),
      element("div", { class: "two" },
        element("div", {}, element("div", { class: "scene" }, this.scene()), this.result(),
          this.moveButtons(this.naive, thread => this.naiveMove(thread), found === all ? "Play again" : "Play another order")),
        element("div", { class: "chart" }, this.map(this.naive.order), this.legend(),
          element("p", { class: "moves quiet" }, element("span", { class: "tried" }, `${found} of ${all} orders tried.`),
            found === all ? null : element("button", { type: "button", id: "hint", onclick: () => this.hint() }, "Show me an untried order")),
          this.slots())));
  }

  // Plays an order that was not tried yet; the one that loses the letter is the last.
  hint() {
    const left = [...this.outcomes.keys()].filter(one => !this.saved.tried.includes(one));
    const order = left.find(one => !this.outcomes.get(one)) || left[0];
    this.naive.start();
    for (const letter of order) {
      const thread = "AB".indexOf(letter);
      const { text, more = "" } = this.naiveMove(thread);
      this.play(this.naive, thread, text + more);
    }
    this.announce(`${this.inNames(order)}:`);
  }

  kinds() {
    const lost = [...this.outcomes].filter(([, fails]) => fails).length;
    const count = fits => {
      const orders = [...this.outcomes.keys()].filter(fits).length;
      return `${orders} ${orders === 1 ? "order" : "orders"}`;
    };
    return this.frame(`Six orders of three kinds: ${lost === 1 ? "one order loses" : `${lost} orders lose`} the letter`,
      element("div", { class: "two" },
        element("ul", { class: "endings" },
          element("li", {}, `✓ Ben puts the letter in before Ana looks: she takes it (${count(order => order.startsWith("B"))}).`),
          element("li", {}, `✓ Ana leaves her note before Ben looks for it: he brings the letter (${count(order => /^A.*B$/.test(order))}).`),
          element("li", { class: "fails" }, `✗ Ana looks before the letter is there, and leaves her note after Ben has looked for it. Both looked too early, and neither looks again (${count(order => /^A.*A$/.test(order))}).`)),
        element("div", { class: "chart" }, ordersMap({
          orders: [...this.outcomes.keys()].sort(), size: 2, lost: order => this.outcomes.get(order), current: null,
          titles: Opening.moves,
        }))),
      element("p", {}, "Every move was right. Only the order was wrong, and no rule prevents that order. ", element("strong", {}, "An outcome that depends on the order in this way is called a race condition.")));
  }

  // MARK: The same moves in Swift

  inSwift() {
    const { race } = this.naive;
    const orders = race.total[race.root];
    const losing = this.inNames([...this.outcomes.keys()].find(order => this.outcomes.get(order)));
    return this.frame("The same moves, in a program",
      element("p", {}, `This is part of a real program, in the language Swift. You need not read it: each colored heading says what the lines below it do. Two parts of the program run at the same time: one does what Ana does, the other what Ben does. Play the order that loses the letter (${losing}): the lines of your last move light up.`),
      element("div", { class: "two" },
        element("div", {}, this.source(race)),
        element("div", { class: "by-code" }, element("div", { class: "scene" }, this.scene()),
          this.result(), this.moveButtons(this.naive, thread => this.naiveMove(thread)))),
      element("p", { class: "quiet" }, `The program cuts these moves into smaller steps, so it has ${orders} orders. Each runs like one of your six, and only those like the losing one lose the letter.`),
      element("p", { class: "quiet" }, "For programmers: the mailbox is a promise, and the letter is its value. Ana calls ", element("code", {}, "then"), ". At this moment, state is ", element("code", {}, this.naive.value("state")), " and f_then is ", element("code", {}, this.naive.value("f_then")), "."));
  }

  // The lines with which the moves begin, in all orders that the program makes, and what they are.
  get linesOfMoves() {
    if (this.knownLines) return this.knownLines;
    this.knownLines = new Map();
    const game = new Game(this.naive.race, this.naive.endsMove);
    for (const order of this.outcomes.keys()) {
      game.start();
      for (const letter of order) {
        const thread = "AB".indexOf(letter);
        const { site, name } = game.edge(thread).label;
        const words = game.order.includes(letter)
          ? [name === "f_error" ? "leaves her note" : "takes the letter", "looks for a note"] : ["looks into the mailbox", "puts the letter in"];
        this.knownLines.set(site.line, element("li", { class: `fold text-t${thread}` }, `${["Ana", "Ben"][thread]} ${words[thread]}:`));
        game.move(thread);
      }
    }
    return this.knownLines;
  }

  // The lines that the moves need, with those of the last move lit; the others are folded.
  source(race) {
    const { path, before } = this.naive;
    const [file, ...bounds] = race.data.source[0];
    const { lines } = race.files[file];
    const last = path.edges.slice(before).map(({ label }) => label).filter(({ site }) => site && site.file === file);
    const used = [...this.linesOfMoves.keys()];
    const textOf = number => (lines.get(number) || "").slice(4);
    // A short passage is shown whole.
    const isShown = (number, first, last) => number === first || last - first < 8 || used.some(line => number >= line && number <= line + 2);
    const rows = [];
    for (let i = 0; i < bounds.length; i += 2) {
      for (let number = bounds[i]; number <= bounds[i + 1]; number += 1) {
        if (textOf(number).trim().startsWith("//")) continue;
        if (!isShown(number, bounds[i], bounds[i + 1])) {
          if (!rows[rows.length - 1].matches("[aria-hidden]")) rows.push(element("li", { class: "fold", "aria-hidden": "true" }, "⋯"));
          continue;
        }
        if (this.linesOfMoves.has(number)) rows.push(this.linesOfMoves.get(number));
        const step = last.find(({ site }) => site.line === number);
        rows.push(element("li", { class: `line ${step ? `lit lit-t${step.thread}` : ""}` },
          element("span", { class: "number" }, String(number)), element("code", {}, textOf(number) || " ")));
      }
    }
    return element("div", { class: "code", id: "code", tabindex: 0, role: "group", "aria-label": "Source code" }, element("ol", { class: "lines" }, rows));
  }

  // MARK: The lock

  withLock() {
    const game = this.locked;
    const isSecond = game.order.length === 1;
    const both = game.race.total[game.race.root];
    const words = thread => game.order.includes("AB"[thread]) ? { can: false, text: `has had ${thread === 0 ? "her" : "his"} turn` } : {
      can: true, text: "takes the key",
      more: `, ${thread === 0 ? (isSecond ? "looks, takes the letter" : "looks, leaves a note")
        : isSecond ? "puts the letter in, finds the note, brings Ana the letter" : "puts the letter in, finds no note"}, and hangs the key back`,
    };
    return this.frame("With a lock, two moves are one",
      element("p", {}, "Now the mailbox has a lock, and one key. The person with the key makes ", element("em", {}, "both"), " moves before anyone else may touch the box or its note. So there are two turns instead of four moves, and two orders instead of six. Try both."),
      element("div", { class: "two" },
        element("div", {},
          element("div", { class: "scene" }, mailboxScene({
            hasLetter: game.order.includes("B"), hasNote: game.order === "A", isDelivered: game.isDelivered, isLost: game.hasEnded && game.fails,
            isBrought: game.isDelivered && game.order === "AB", isHome: game.order.startsWith("B"), hasKey: true,
          })),
          game.hasEnded ? this.told(`${this.moved} Ana has her letter.`, "survives") : this.told(this.moved || "Choose who moves first."),
          this.moveButtons(game, words, this.saved.locked.length < both ? "Play the other order" : "Play again")),
        element("div", { class: "chart" }, ordersMap({
          orders: this.saved.locked.slice().sort(), size: 1, lost: () => this.locked.race.fails, current: game.order, titles: [["Ana’s turn"], ["Ben’s turn"]],
        }), element("p", { class: "tried" }, `${this.saved.locked.length} of ${both} orders tried.`, this.saved.locked.length < both ? null : element("strong", {}, " Neither loses the letter.")))));
  }

  // The first box is the one that Ana goes to first, the second one that of Ben.
  boxOf(owner, { race } = this.keys) {
    return [0, 1].findIndex(thread => race.next(race.root, thread).owner === owner);
  }

  // What a person does next with the keys.
  keyMove(game, thread) {
    const next = game.race.next(game.path.node, thread);
    if (!next) return { can: false, text: "is done" };
    const wait = game.path.waiting(thread);
    const box = this.boxOf(next.owner, game);
    if (wait) return { can: false, text: box < 0 ? "waits" : `waits for key ${box + 1}` };
    if (box < 0) return { can: true, text: `marks the note on box ${this.noteOf(next.owner) + 1} as done` };
    const isFull = this.letters(game)[box] > 0;
    const what = thread === box ? "the letter" : "the copy";
    if (!this.puts(next, game)) return { can: true, text: `takes key ${box + 1}, looks into box ${box + 1}, and hangs the key back`, more: isFull ? ": the box has a letter" : ": the box is empty" };
    if (isFull) return { can: true, text: `takes key ${box + 1}, wants to put ${what} in`, more: ", finds a letter there by now, and hangs the key back" };
    return { can: true, text: game === this.keys ? `takes key ${box + 1}, puts ${what} in, and keeps the key` : `takes key ${box + 1}, puts ${what} in, and hangs the key back` };
  }

  // Whether a step fulfills a promise, as the first step of each thread does; others look at one.
  puts(label, { race }) { return label.site.line === race.next(race.root, 0).site.line; }

  // The box with a note. What the note asks for is done when another promise is fulfilled.
  noteOf(owner) {
    const { race } = this.returned;
    // Ben brings his letter, Ana hers. She looks into his box, and is done with the note on her own.
    const [ana, ben] = race.letters;
    const { path } = race.walk(ben + ana + ana);
    return race.next(path.node, 0).owner === owner ? 0 : 1;
  }

  // On which boxes the note is done.
  notesDone(game) {
    return [0, 1].map(box => game.path.edges.some(({ label }) => this.boxOf(label.owner, game) < 0 && this.noteOf(label.owner) === box));
  }

  holders(game) {
    const holders = [-1, -1];
    game.path.locks().forEach((locks, thread) => locks.forEach(({ label }) => {
      const box = this.boxOf(label.owner, game);
      if (box >= 0) holders[box] = thread;
    }));
    return holders;
  }

  // How many letters are in each box: a promise is fulfilled once.
  letters(game) {
    return [0, 1].map(box => game.path.edges.some(({ label }) => this.boxOf(label.owner, game) === box && this.puts(label, game)) ? 1 : 0);
  }

  // The keys for which both wait at the end.
  waits(game) {
    return game.path.ending.waiting.map(({ thread, owner, holder }) => {
      const name = ["Ana", "Ben"][thread];
      const key = `key ${this.boxOf(owner, game) + 1}`;
      return holder === thread ? `the note on box ${2 - this.boxOf(owner, game)} sends ${name} to box ${this.boxOf(owner, game) + 1}, and ${thread === 0 ? "she" : "he"} waits for ${key}, but has it ${thread === 0 ? "herself" : "himself"}` : `${name} waits for ${key}, which ${["Ana", "Ben"][holder]} has`;
    }).join(", and ");
  }

  whatItBreaks() {
    const game = this.keys;
    const isStuck = game.hasEnded && game.fails;
    return this.frame("The lock brings a new bug", this.stage(
      [element("p", {}, "A new story: Ana brings a letter to box 1, Ben one to box 2. On each box is a note. It tells the person who puts a letter in: “Look into the other box. If it is empty, put a copy there.”"),
        element("p", {}, "To open a box, even to look, Ana or Ben takes its key, and waits if the key is gone. After putting a letter in, each keeps the key of that box until what its note says is done."),
        element("p", {}, element("strong", {}, "Can both do what the notes say?"), " Try.")],
      this.keysScene(game, isStuck),
      isStuck ? this.told(`${this.moved} Now ${this.waits(game)}. Neither can move: this is called a deadlock.`, "fails") : this.told(this.moved || "Choose who moves first."),
      this.moveButtons(game, thread => this.keyMove(game, thread), "Play another order"),
      game.hasEnded ? element("p", {}, game.race.data.failing === game.race.data.explored
        ? "Every order ends like this, one way or another. People would notice; a program follows its rules, and waits forever." : `${game.race.data.failing} of its orders fail.`) : null));
  }

  // Whether Ana and Ben still have their letters: a person who finds one in the box keeps their own.
  brings(game) {
    return [0, 1].map(thread => game.path.edges.find(({ label }) => this.boxOf(label.owner, game) === thread && this.puts(label, game))?.label.thread !== thread);
  }

  keysScene(game, isStuck = false) {
    return keysScene({
      holders: this.holders(game), letters: this.letters(game), notesDone: this.notesDone(game), brings: this.brings(game), isStuck, isDone: game.hasEnded && !isStuck,
    });
  }

  whatFixes() {
    const game = this.returned;
    return this.frame("What fixes the deadlock", this.stage(
      element("p", {}, "A new rule: hang the key back ", element("em", {}, "first"), ", and then do what the note asks for. Then a person who waits for a key holds no other key."),
      this.keysScene(game),
      game.hasEnded ? this.told(`${this.moved} Both are done, and each box has a letter.${this.brings(game).includes(true) ? " The one that is left over was not needed: its box was full." : ""}`, "survives") : this.told(this.moved || "Try to get them stuck."),
      this.moveButtons(game, thread => this.keyMove(game, thread)),
      game.hasEnded ? element("p", {}, `The program, with its smaller steps, has ${game.race.total[game.race.root]} orders here, and in none of them does anyone get stuck.`) : null));
  }

  end() {
    const link = (href, text) => element("li", {}, element("a", { href }, text));
    return this.frame("You have met two bugs from real programs",
      element("p", {}, "The first was an order of moves that loses a letter. The lock that prevents it brought the second, a deadlock, which the last rule prevents: hold no key while you wait for another. When a program runs, the bad order is rare, so tests seldom meet it. Here, every order of the real program had been tried beforehand; your moves chose which one you saw. If you do not write programs, this is the end."),
      element("p", {}, element("strong", {}, "If you write programs:"), " the letter is a value, the mailbox is a promise, the note is a handler, Ana and Ben are threads. On the next pages you choose the steps of the real source. An order of steps is called an interleaving."),
      element("ul", { class: "endings" },
        link("#R01/stage1", "The lost letter, line by line"), link("#R10/stepA", "The two keys, line by line"),
        link("#R01/stage3", "The finished promise: try to break it"),
        element("li", {}, "Build it yourself: ", location.protocol === "file:" ? element("a", { href: "../Tutorial.md" }, "the Tutorial") : "the Tutorial",
          " begins with the first line, and its first exercise is to lose a handler on purpose: ", element("code", {}, "swift run promise-lab exercise 1"))),
      element("p", { class: "moves" }, element("a", { class: "start", href: "#races" }, "All races, one lesson after another"),
        element("a", { href: "#matrix" }, "The matrix: every race on every version"), element("a", { href: "#play/1" }, "Play the opening again")));
  }
}
