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
  }

  edge(thread) { return this.race.nodes[this.path.node].edges.find(({ label }) => label.thread === thread); }

  move(thread) {
    let edge = this.edge(thread);
    if (!edge) return false;
    const isFirst = !this.order.includes("AB"[thread]);
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
    this.page.view = this;
    put(this.page.main, this.screens[this.number]());
    const lit = this.page.main.querySelector(".lit");
    if (lit) {
      const code = lit.closest(".code");
      code.scrollTop += lit.getBoundingClientRect().top - code.getBoundingClientRect().top - code.clientHeight / 2;
    }
    this.page.head(`${this.page.frame.title}: the opening`);
    if (focused) {
      const again = document.getElementById(focused) || document.getElementById("again") || document.getElementById("next");
      if (again) again.focus({ preventScroll: true });
    }
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
      element("p", { class: "quiet" }, `${this.number + 1} of ${last + 1}${this.number === 0 ? " · five minutes, and no Swift" : ""}`),
      element("h1", {}, title), content,
      element("p", { class: "moves turn" },
        this.number === 0 ? null : element("a", { id: "previous", href: `#play/${this.number}` }, "← Back"),
        this.number === last ? null : element("a", { id: "next", class: this.isReady() ? "start" : "", href: `#play/${this.number + 2}` }, this.isReady() ? "Next →" : "Skip →")));
  }

  isReady() {
    return [
      () => this.saved.tried.length > 0, () => this.saved.tried.length === this.outcomes.size, () => true, () => this.naive.hasEnded,
      () => this.saved.locked.length === 2, () => this.keys.hasEnded, () => this.returned.hasEnded, () => true,
    ][this.number]();
  }

  // The buttons of Ana and Ben, or, after the last move, the one to play again.
  moveButtons(game, words, again = "Play another order") {
    if (game.hasEnded) {
      return element("p", { class: "moves" },
        element("button", { type: "button", id: "again", class: "main", onclick: () => { game.start(); this.moved = null; this.draw(); } }, again));
    }
    return element("div", { class: "lanes" }, [0, 1].map(thread => {
      const what = words(thread);
      return element("div", { class: `lane lane-t${thread}` }, element("button", {
        type: "button", class: "go", id: `move-${thread}`, "aria-disabled": what.can ? null : "true", "aria-keyshortcuts": "AB"[thread],
        onclick: () => this.play(game, thread, what.text),
      }, element("kbd", {}, "AB"[thread]), element("span", { class: "who" }, ["Ana", "Ben"][thread]), element("span", { class: "what" }, what.text)));
    }));
  }

  play(game, thread, text) {
    if (!game.move(thread)) return;
    this.moved = `${["Ana", "Ben"][thread]} ${text}.`;
    if (game === this.naive && game.hasEnded && !this.saved.tried.includes(game.order)) this.saved.tried.push(game.order);
    if (game === this.locked && game.hasEnded && !this.saved.locked.includes(game.order)) this.saved.locked.push(game.order);
    this.save();
    this.draw();
    this.page.say([this.moved, document.querySelector(".told")?.textContent].filter(Boolean).join(" "));
  }

  told(text, className = "") { return element("p", { class: `told ${className}`.trim() }, text); }

  // MARK: One mailbox

  // The next move of a person in the race of the mailbox.
  naiveMove(thread) {
    const game = this.naive;
    const next = game.race.next(game.path.node, thread);
    if (!next) return { can: false, text: "has made both moves" };
    const isFirst = game.path.counts()[thread] === 0;
    if (thread === 1) return { can: true, text: isFirst ? "puts the letter into the mailbox" : this.seesNote() };
    if (isFirst) return { can: true, text: "looks whether the letter is in the mailbox" };
    return { can: true, text: this.sawLetter() ? "takes the letter that she saw" : "saw no letter, so she leaves a note: bring it to me" };
  }

  seesNote() { return this.naive.value("f_then") === "set" ? "sees a note, and brings Ana the letter" : "looks for a note, sees none, and goes home"; }

  // Whether Ana saw the letter when she looked: the line on which the program goes on.
  sawLetter() {
    const { path } = this.naive;
    const at = path.edges.findIndex(({ label }) => label.thread === 0 && looksAtState(label));
    return path.first(at).edges.some(({ label }) => setsState(label));
  }

  scene() {
    const game = this.naive;
    return mailboxScene({
      hasLetter: game.value("state") === "fulfilled", hasNote: game.value("f_then") === "set",
      isDelivered: game.isDelivered, isLost: game.hasEnded && game.fails,
    });
  }

  result() {
    const game = this.naive;
    if (!game.hasEnded) return this.told(this.moved || "You decide who moves next.");
    if (game.fails) return this.told(`${this.moved} The letter is in the mailbox, Ben has gone home, and Ana waits forever: the letter is lost.`, "fails");
    return this.told(`${this.moved} Ana has her letter.`, "survives");
  }

  map(current) {
    return ordersMap({
      orders: this.saved.tried.slice().sort(), size: 2, lost: order => this.outcomes.get(order), current,
      titles: [["looks", "note or letter"], ["letter in", "looks for note"]],
    });
  }

  slots() {
    const all = [...this.outcomes.keys()];
    const name = order => [...order].map(letter => ({ A: "Ana", B: "Ben" }[letter])).join(", ");
    const tried = this.saved.tried;
    return element("ol", { class: "slots" }, all.map((_, i) => tried[i] === undefined
      ? element("li", { class: "open" }, "?")
      : element("li", { class: this.outcomes.get(tried[i]) ? "fails" : "survives" }, `${this.outcomes.get(tried[i]) ? "✗" : "✓"} ${name(tried[i])}`)));
  }

  mailbox() {
    return this.frame("Two people and a mailbox",
      element("p", {}, "Ana wants a letter. She looks into the mailbox. If the letter is there, she takes it. If not, she leaves a note: “bring it to me”."),
      element("p", {}, "Ben has the letter. He puts it into the mailbox. Then he looks for a note. If there is one, he brings Ana the letter; if not, he goes home."),
      element("div", { class: "scene" }, this.scene()), this.result(),
      this.moveButtons(this.naive, thread => this.naiveMove(thread)));
  }

  search() {
    const found = this.saved.tried.length;
    const all = this.outcomes.size;
    const hasLost = this.saved.tried.some(order => this.outcomes.get(order));
    return this.frame(found === all ? `You have found all ${all} orders` : "Can the letter get lost?",
      element("p", {}, found === all ? "This is the complete map: whatever Ana and Ben do, they follow one of these lines."
        : `Each made two moves. Only the order differs, and there are ${all} orders. You have tried ${found}. ${hasLost ? "One of them loses the letter. Find the others." : "Find the one that loses the letter."}`),
      element("div", { class: "two" },
        element("div", {}, element("div", { class: "scene" }, this.scene()), this.result(),
          this.moveButtons(this.naive, thread => this.naiveMove(thread)),
          found === all ? null : element("p", { class: "moves" }, element("button", { type: "button", id: "hint", onclick: () => this.hint() }, "Show me an order that I have not tried"))),
        element("div", { class: "chart" }, this.map(this.naive.order), this.slots())));
  }

  // Plays an order that was not tried yet.
  hint() {
    const order = [...this.outcomes.keys()].find(one => !this.saved.tried.includes(one));
    this.naive.start();
    for (const letter of order) {
      const thread = "AB".indexOf(letter);
      this.play(this.naive, thread, this.naiveMove(thread).text);
    }
  }

  kinds() {
    const lost = [...this.outcomes].filter(([, fails]) => fails).length;
    const count = fits => {
      const orders = [...this.outcomes.keys()].filter(fits).length;
      return `${orders} ${orders === 1 ? "order" : "orders"}`;
    };
    return this.frame(`Six orders, three kinds, and ${lost === 1 ? "one loses" : `${lost} lose`} the letter`,
      element("div", { class: "two" },
        element("ul", { class: "endings" },
          element("li", {}, `✓ Ben puts the letter in before Ana looks: she takes it (${count(order => order.startsWith("B"))}).`),
          element("li", {}, `✓ Ana leaves her note before Ben looks for it: he brings the letter (${count(order => /^A.*B$/.test(order))}).`),
          element("li", { class: "fails" }, `✗ Ana looks before the letter is there, and leaves her note after Ben has looked for it. Each of them looked too early, and neither looks again (${count(order => /^A.*A$/.test(order))}).`)),
        element("div", { class: "chart" }, ordersMap({
          orders: [...this.outcomes.keys()].sort(), size: 2, lost: order => this.outcomes.get(order), current: null,
          titles: [["looks", "note or letter"], ["letter in", "looks for note"]],
        }))),
      element("p", {}, "Each move was right. Only the order was wrong, and nothing had decided on the order. That is a ", element("strong", {}, "race condition"), "."));
  }

  // MARK: The same moves in Swift

  inSwift() {
    const { race, path } = this.naive;
    const orders = race.total[race.root];
    return this.frame("The same moves, in a program",
      element("p", {}, "The letter is a value, Ana is a thread that calls ", element("code", {}, "then"), " to register a handler, and Ben is a thread that calls ", element("code", {}, "fulfill"), ". The mailbox is a promise. Play the same moves, and watch the lines."),
      element("div", { class: "two" },
        element("div", {}, this.source(race, path)),
        element("div", {}, element("div", { class: "scene" }, this.scene()),
          element("p", { class: "quiet" }, `state: ${this.naive.value("state")}, f_then: ${this.naive.value("f_then")}`),
          this.result(), this.moveButtons(this.naive, thread => this.naiveMove(thread)))),
      element("p", { class: "quiet" }, `The program's steps are smaller than these moves. It makes ${orders} orders of them, of the same ${race.data.explored} kinds; and ${race.data.failing} of the ${race.data.explored} loses the value.`));
  }

  // The source, with the lines of the last move and of the next ones.
  source(race, path) {
    const marks = new Map();
    const last = path.edges.length > 0 ? path.edges[path.edges.length - 1].label.thread : -1;
    for (let i = path.edges.length - 1; i >= 0 && path.edges[i].label.thread === last; i -= 1) {
      const { site } = path.edges[i].label;
      if (site) marks.set(`${site.file}:${site.line}`, `lit lit-t${last}`);
    }
    const [file, ...bounds] = race.data.source[0];
    const { lines } = race.files[file];
    const rows = [];
    for (let i = 0; i < bounds.length; i += 2) {
      if (i > 0) rows.push(element("li", { class: "fold", "aria-hidden": "true" }, "⋯"));
      for (let number = bounds[i]; number <= bounds[i + 1]; number += 1) {
        rows.push(element("li", { class: `line ${marks.get(`${file}:${number}`) || ""}` },
          element("span", { class: "number" }, String(number)), element("code", {}, (lines.get(number) || "").slice(4) || " ")));
      }
    }
    return element("div", { class: "code", tabindex: 0, role: "group", "aria-label": "Source code" }, element("ol", { class: "lines" }, rows));
  }

  // MARK: The lock

  withLock() {
    const game = this.locked;
    const isSecond = game.order.length === 1;
    const both = game.race.total[game.race.root];
    const words = thread => game.order.includes("AB"[thread]) ? { can: false, text: "has been there" } : {
      can: true,
      text: thread === 0 ? (isSecond ? "unlocks, looks, takes the letter, locks" : "unlocks, looks, leaves a note, locks")
        : isSecond ? "unlocks, puts the letter in, sees the note, brings the letter, locks" : "unlocks, puts the letter in, sees no note, locks",
    };
    return this.frame("A lock makes two moves one",
      element("p", {}, "Now the mailbox has a lock, with one key. The person with the key looks ", element("em", {}, "and"), " acts before the other one can come. So there are two moves instead of four, and only two orders. Try both."),
      element("div", { class: "two" },
        element("div", {},
          element("div", { class: "scene" }, mailboxScene({
            hasLetter: game.order.includes("B"), hasNote: game.order.startsWith("A"), isDelivered: game.isDelivered, isLost: game.hasEnded && game.fails,
          })),
          game.hasEnded ? this.told(`${this.moved} Ana has her letter.`, "survives") : this.told(this.moved || "You decide who comes first."),
          this.moveButtons(game, words, "Play the other order")),
        element("div", { class: "chart" }, ordersMap({
          orders: this.saved.locked.slice().sort(), size: 1, lost: () => this.locked.race.fails, current: game.order, titles: [["Ana's turn"], ["Ben's turn"]],
        }), element("p", { class: "quiet" }, `${this.saved.locked.length} of ${both} orders tried.${this.saved.locked.length < both ? "" : " None loses the letter."}`))));
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
    const isKept = game === this.keys;
    if (box < 0) return { can: true, text: "does the rest, with a third key" };
    return { can: true, text: isKept ? `takes key ${box + 1}, and keeps it` : `takes key ${box + 1}, uses it, and hangs it back` };
  }

  holders(game) {
    const holders = [-1, -1];
    game.path.locks().forEach((locks, thread) => locks.forEach(({ label }) => {
      const box = this.boxOf(label.owner, game);
      if (box >= 0) holders[box] = thread;
    }));
    return holders;
  }

  // The keys for which both wait at the end.
  waits(game) {
    return game.path.ending.waiting.map(({ thread, owner, holder }) => {
      const name = ["Ana", "Ben"][thread];
      const key = `key ${this.boxOf(owner, game) + 1}`;
      return holder === thread ? `${name} waits for ${key}, which is in ${thread === 0 ? "her" : "his"} own pocket` : `${name} waits for ${key}, which ${["Ana", "Ben"][holder]} has`;
    }).join(", and ");
  }

  whatItBreaks() {
    const game = this.keys;
    const isStuck = game.hasEnded && game.fails;
    return this.frame("What the lock breaks",
      element("p", {}, "There are two mailboxes, and a note on each that says: “when a letter comes, put one into the other box, too”. Ana brings a letter to box 1, Ben one to box 2. Both keep a key until everything that the note asks for is done. Try to let both finish."),
      element("div", { class: "scene" }, keysScene({ holders: this.holders(game), isStuck })),
      isStuck ? this.told(`${this.moved} Now ${this.waits(game)}. Neither can move: this is a deadlock.`, "fails") : this.told(this.moved || "You decide who moves next."),
      this.moveButtons(game, thread => this.keyMove(game, thread), "Play another order"),
      game.hasEnded ? element("p", { class: "quiet" }, `The program has ${game.race.total[game.race.root]} orders here, of ${game.race.data.explored} kinds, and ${game.race.data.failing === game.race.data.explored ? "all of them end like this, one way or another" : `${game.race.data.failing} fail`}. (This is the race R10 on Step A.)`) : null);
  }

  whatFixes() {
    const game = this.returned;
    return this.frame("What fixes that",
      element("p", {}, "New rule: hang the key back ", element("em", {}, "first"), ", and then do what the note asks for. Then no one holds a key while waiting for another."),
      element("div", { class: "scene" }, keysScene({ holders: this.holders(game), isStuck: false })),
      game.hasEnded ? this.told(`${this.moved} Both are done.`, "survives") : this.told(this.moved || "Try to get them stuck."),
      this.moveButtons(game, thread => this.keyMove(game, thread)),
      game.hasEnded ? element("p", { class: "quiet" }, `The program has ${game.race.total[game.race.root]} orders here, and none gets stuck. (This is R10 on Step B.) But now it is open again who does the rest first: that is the next race.`) : null);
  }

  end() {
    return this.frame("You have met two bugs of real programs",
      element("p", {}, "One is an order that loses a value. The other is a deadlock, which came with the lock that prevents the first. Everything you played was recorded from one class of about a hundred lines, a promise, in every order that its threads can take."),
      element("ul", { class: "endings" },
        element("li", {}, element("strong", {}, "Stage 1"), " is the promise whose letter got lost. ", element("a", { href: "#R01/stage1" }, "Play it line by line.")),
        element("li", {}, element("strong", {}, "Stage 2"), " has lists instead of single slots, and still loses letters. ", element("a", { href: "#R01/stage2" }, "See how.")),
        element("li", {}, element("strong", {}, "Steps A to E"), " add the lock, move the calls out of it, and fix what that breaks, one lesson at a time. ", element("a", { href: "#R10/stepA" }, "The two keys, in Swift.")),
        element("li", {}, element("strong", {}, "Stage 3"), " survives every race on this page. ", element("a", { href: "#R01/stage3" }, "Try to break it."))),
      element("p", {}, "This is what the Tutorial builds, from the first line on. Your first exercise is to lose a handler on purpose: ", element("code", {}, "swift run promise-lab exercise 1"), "."),
      element("p", { class: "moves" }, element("a", { class: "start", href: "#races" }, "All races, in an order to learn"),
        element("a", { href: "#matrix" }, "The matrix: every race on every version"), element("a", { href: "#play/1" }, "Play the opening again")));
  }
}
