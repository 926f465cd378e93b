"use strict";

// One exploration: its states, the steps between them, and how many interleavings fail from each.
class Race {
  constructor(id, data, files) {
    this.id = id;
    this.data = data;
    this.files = files;
    this.threads = data.threads;
    this.letters = data.letters;
    this.columns = data.columns;
    this.labels = data.labels.map(values => this.readLabel(values));
    this.knowsOrder = data.kindNames.every(kind => kindsInOrder.has(kind));
    this.nodes = data.nodes.split(";").map((text, index) => this.readNode(text.split(","), index));
    this.root = this.nodes.length - 1;
    this.count();
    this.upcoming = new Map();
  }

  readLabel(values) {
    const [thread, kind, text, site, name, flags, locks, conflictCount] = values;
    const pairs = (start, count) =>
      Array.from({ length: count }, (_, i) => [values[start + 2 * i], values[start + 2 * i + 1]]);
    const afterAt = 8 + 2 * conflictCount;
    const afterCount = values[afterAt];
    const takenAt = afterAt + 1 + 2 * afterCount;
    const [owner, remark] = this.data.remarks[flags >> 2];
    return {
      thread, owner, remark, kind: this.data.kindNames[kind], text: this.data.texts[text],
      site: this.site(site), name: this.data.names[name],
      failed: (flags & 1) !== 0, early: (flags & 2) !== 0, locks,
      conflicts: pairs(8, conflictCount), after: pairs(afterAt + 1, afterCount),
      taken: pairs(takenAt, (values.length - takenAt) / 2),
    };
  }

  site(index) {
    if (index < 0) return null;
    const [file, line, column] = this.data.sites[index];
    return { file, line, column };
  }

  // An even number of values: a state and its ending. An odd number: a state, and pairs of label
  // and target. A state that is left out is that of the node before; a target, the node before.
  readNode(texts, index) {
    const values = texts.map(Number);
    const edges = [];
    if (texts[0] !== "") this.lastState = values[0];
    const state = this.lastState;
    if (values.length % 2 === 0) return { state, ending: this.data.endings[values[1]], edges };
    for (let i = 1; i < values.length; i += 2) {
      // A negative number marks a step into an interleaving that is not counted.
      const isExtra = values[i] < 0;
      const label = this.labels[isExtra ? -1 - values[i] : values[i]];
      edges.push({ label, isExtra, target: index - (values[i + 1] || 1), key: this.key(label) });
    }
    return { state, ending: null, edges };
  }

  key(label) { return this.letters[label.thread] + (label.early ? "-" : ""); }

  // The number of interleavings from each state, and how many of them fail. A state comes after the
  // targets of its steps, so their counts are known.
  count() {
    this.total = [];
    this.failing = [];
    this.nodes.forEach((node, index) => {
      const counted = node.edges.filter(edge => !edge.isExtra);
      const steps = counted.length > 0 ? counted : node.edges;
      const sum = values => steps.reduce((all, edge) => all + values[edge.target], 0);
      this.total[index] = node.ending ? 1 : sum(this.total);
      this.failing[index] =
        node.ending ? (node.ending.findings.length > 0 ? 1 : 0) : sum(this.failing);
    });
  }

  fate(index) {
    if (this.failing[index] === 0) return "survives";
    return this.failing[index] === this.total[index] ? "fails" : "mixed";
  }

  get fails() { return this.failing[this.root] > 0; }

  // Whether the thread is a task that another step resumes.
  isResumed(thread) {
    return this.labels.some(label => label.remark === `resumes '${this.threads[thread]}'`);
  }

  // The next step of a thread, now or when it can continue; null if it has ended.
  next(index, thread) {
    const key = index * this.threads.length + thread;
    const known = this.upcoming.get(key);
    if (known !== undefined) return known;
    const edges = this.nodes[index].edges;
    const own = edges.find(edge => edge.label.thread === thread && !edge.label.early)
      || edges.find(edge => edge.label.thread === thread);
    let label = own ? own.label : null;
    for (const edge of edges) label = label || this.next(edge.target, thread);
    this.upcoming.set(key, label);
    return label;
  }

  reason(index) {
    const { kind, reason } = this.data.findings[index];
    return kind === "failed check" ? reason : `${kind}: ${reason}`;
  }

  // Follows a schedule as far as it fits; returns the path, and why the next step does not fit.
  walk(text) {
    const path = new Path(this);
    let rest = text;
    while (rest !== "") {
      const match = /^(.)(-?)(\d*)/u.exec(rest);
      const letter = match[1].toUpperCase();
      if (!this.letters.includes(letter)) {
        return { path, problem: `no thread has the letter “${match[1]}”` };
      }
      const times = match[3] === "" ? 1 : Number(match[3]);
      for (let i = 0; i < times; i += 1) {
        if (!path.take(letter + match[2])) {
          const name = this.threads[this.letters.indexOf(letter)];
          const why = this.data.coverage === "all"
            ? `“${name}” cannot take it` : `this page has no such interleaving`;
          return { path, problem: `step ${path.length + 1} does not fit: ${why}` };
        }
      }
      rest = rest.slice(match[0].length);
    }
    return { path, problem: null };
  }

  // Of the interleavings whose ending `accepts` accepts, the one with the fewest context switches;
  // of those, the shortest.
  simplest(accepts) {
    const best = new Map();
    const visit = (index, last) => {
      const key = index * (this.threads.length + 1) + last + 1;
      if (best.has(key)) return best.get(key);
      const node = this.nodes[index];
      let result = node.ending && accepts(node.ending) ? { cost: 0, keys: [] } : null;
      for (const edge of node.edges) {
        const rest = visit(edge.target, edge.label.thread);
        if (!rest) continue;
        const switched = last >= 0 && last !== edge.label.thread ? 1 : 0;
        const cost = rest.cost + 1 + switched * 10000;
        if (!result || cost < result.cost) result = { cost, keys: [edge.key, ...rest.keys] };
      }
      best.set(key, result);
      return result;
    };
    const found = visit(this.root, -1);
    return found ? found.keys : null;
  }

  get counterexample() { return this.simplest(ending => ending.findings.length > 0); }
  get survivor() { return this.simplest(ending => ending.findings.length === 0); }

  // Every state that can be reached from `start`, with the number of steps of each thread and the
  // number of paths.
  places(start = this.root, startCounts = this.threads.map(() => 0)) {
    const places = new Map();
    const queue = [{ index: start, counts: startCounts, ways: 1 }];
    places.set(placeKey(start, startCounts), queue[0]);
    for (let i = 0; i < queue.length; i += 1) {
      const place = queue[i];
      for (const edge of this.nodes[place.index].edges) {
        if (edge.isExtra) continue;
        const counts = place.counts.slice();
        counts[edge.label.thread] += 1;
        const key = placeKey(edge.target, counts);
        let next = places.get(key);
        if (!next) {
          next = { index: edge.target, counts, ways: 0 };
          places.set(key, next);
          queue.push(next);
        }
        // Places are visited in the order of their total number of steps, so all paths to this
        // place are counted.
        next.ways += place.ways;
      }
    }
    return queue;
  }

  // One interleaving of each kind, those with the fewest context switches first.
  kinds() {
    if (this.allKinds) return this.allKinds;
    const paths = this.data.kinds
      ? this.data.kinds.map(schedule => this.walk(schedule).path) : this.paths();
    this.allKinds = paths.map(path => ({ schedule: path.schedule, path, fails: path.fails }));
    return this.allKinds;
  }

  // Every interleaving that is counted.
  paths() {
    const paths = [];
    const visit = path => {
      if (path.ending) paths.push(path);
      for (const edge of this.nodes[path.node].edges) {
        if (edge.isExtra) continue;
        const longer = path.first(path.length);
        longer.edges.push(edge);
        visit(longer);
      }
    };
    visit(new Path(this));
    return paths.sort((a, b) => a.switches - b.switches);
  }
}

function placeKey(index, counts) { return `${index}:${counts.join(",")}`; }

// The steps taken so far.
class Path {
  constructor(race) {
    this.race = race;
    this.edges = [];
  }

  get length() { return this.edges.length; }
  get node() { return this.length === 0 ? this.race.root : this.edges[this.length - 1].target; }
  get ending() { return this.race.nodes[this.node].ending; }
  get fails() { return this.ending !== null && this.ending.findings.length > 0; }
  get keys() { return this.edges.map(edge => edge.key); }

  get switches() {
    return this.edges.filter((edge, i) => i > 0 && edge.label.thread !== this.edges[i - 1].label.thread).length;
  }

  take(key) {
    const edge = this.race.nodes[this.node].edges.find(edge => edge.key === key);
    if (!edge) return null;
    this.edges.push(edge);
    return edge;
  }

  first(count) {
    const path = new Path(this.race);
    path.edges = this.edges.slice(0, count);
    return path;
  }

  counts() {
    const counts = this.race.threads.map(() => 0);
    for (const edge of this.edges) counts[edge.label.thread] += 1;
    return counts;
  }

  // The text that `promise-lab replay` accepts.
  get schedule() {
    let text = "";
    let start = 0;
    const keys = this.keys;
    while (start < keys.length) {
      let end = start;
      while (end < keys.length && keys[end] === keys[start]) end += 1;
      text += end - start > 4 ? keys[start] + (end - start) : keys[start].repeat(end - start);
      start = end;
    }
    return text;
  }

  // The states, from the initial one to the one after the last step. `isLocked` marks a state that
  // could not be read; it repeats the last one that could.
  states() {
    const read = index => this.race.data.states[this.race.nodes[index].state];
    let values = read(this.race.root) || this.race.columns.map(() => "");
    const states = [{ values, isLocked: false, changed: [] }];
    for (const edge of this.edges) {
      const now = read(edge.target);
      const before = values;
      values = now || values;
      const changed = this.race.columns.map((_, i) => i).filter(i => before[i] !== values[i]);
      states.push({ values, isLocked: now === undefined, changed, before });
    }
    return states;
  }

  // The first step after which every interleaving fails; -1 if there is none.
  get pointOfNoReturn() {
    if (this.race.fate(this.race.root) === "fails") return -1;
    return this.edges.findIndex(edge => this.race.fate(edge.target) === "fails");
  }

  // For each thread, the steps in which it took the locks that it holds.
  locks() {
    const held = this.race.threads.map(() => []);
    this.edges.forEach((edge, step) => {
      const own = held[edge.label.thread];
      const numbers = this.first(step).counts();
      while (own.length > edge.label.locks) own.pop();
      while (own.length < edge.label.locks) {
        own.push({ step, number: numbers[edge.label.thread], label: edge.label });
      }
    });
    return held;
  }

  // Why a thread cannot continue; null if it can or has ended.
  waiting(thread) {
    const race = this.race;
    const node = race.nodes[this.node];
    if (node.edges.some(edge => edge.label.thread === thread)) return null;
    if (node.ending) {
      const wait = node.ending.waiting.find(wait => wait.thread === thread);
      if (!wait) return null;
      return {
        sentence: wait.sentence, holder: wait.holder, taken: wait.taken[1], text: wait.text,
        site: race.site(wait.site), isForEver: true,
      };
    }
    const label = race.next(this.node, thread);
    if (!label) return null;
    const counts = this.counts();
    const wait = { holder: -1, text: label.text, site: label.site, isForEver: false };
    for (const [other, step] of label.after) {
      const taken = label.taken.find(([thread]) => thread === other);
      if (taken && taken[1] < counts[other] && step >= counts[other]) {
        wait.holder = other;
        wait.taken = taken[1];
        wait.sentence = `waits for the lock that “${race.threads[other]}” holds`;
        return wait;
      }
    }
    wait.sentence = {
      lock: "waits for a lock", sharedLock: "waits for a lock", acquire: "waits for a signal",
      wait: "waits to be woken", receive: "waits for work", join: "waits for a thread to end",
      await: "waits for work to finish", arrive: "waits for its turn on the actor",
      elapse: "sleeps", yield: "waits for its turn",
    }[label.kind] || (race.isResumed(thread) ? "waits to be resumed"
      : { read: "waits for a change", atomicRead: "waits for a change" }[label.kind] || "waits");
    if (race.data.coverage !== "all" && !["acquire", "receive", "join"].includes(label.kind)) {
      wait.sentence = "continues later: a step here makes no new kind of interleaving";
      wait.isLater = true;
    }
    return wait;
  }

  // The order of dependent steps. Interleavings with the same order are of one kind.
  get order() {
    const counts = this.race.threads.map(() => 0);
    const parts = this.edges.map(edge => {
      const { thread, conflicts } = edge.label;
      counts[thread] += 1;
      return `${thread}.${counts[thread]}<${conflicts.map(pair => pair.join(".")).join(" ")}`;
    });
    return parts.sort().join(";");
  }

  // A vector clock for each step: how many steps of each thread happen before it, itself included.
  clocks() {
    const last = this.race.threads.map(() => this.race.threads.map(() => 0));
    const steps = this.race.threads.map(() => []);
    return this.edges.map(edge => {
      const { thread, after } = edge.label;
      const clock = last[thread].slice();
      for (const [other, step] of after) {
        const earlier = steps[other][step];
        if (earlier) earlier.forEach((count, i) => { clock[i] = Math.max(clock[i], count); });
      }
      clock[thread] += 1;
      last[thread] = clock;
      steps[thread].push(clock);
      return clock;
    });
  }

  // Pairs of conflicting accesses that nothing orders, as indices of steps.
  races() {
    if (!this.race.knowsOrder) return [];
    const clocks = this.clocks();
    const indices = this.race.threads.map(() => []);
    const races = [];
    this.edges.forEach((edge, index) => {
      const { thread, kind, conflicts } = edge.label;
      if (kind === "read" || kind === "modify") {
        for (const [other, step] of conflicts) {
          if (clocks[index][other] <= step) races.push([indices[other][step], index]);
        }
      }
      indices[thread].push(index);
    });
    return races;
  }
}

// The kinds of step whose happens-before edges the page knows. Tasks, groups and conditions add
// edges that only the lab knows.
const kindsInOrder = new Set([
  "read", "modify", "lock", "tryLock", "sharedLock", "trySharedLock", "atomicRead", "atomicWrite",
  "exchange", "note", "acquire", "tryAcquire", "signal", "start", "send", "receive",
]);

// The action of each kind of step, in a few words.
const verbs = {
  read: "reads", modify: "writes", lock: "takes the lock", tryLock: "tries the lock",
  atomicRead: "reads an atomic", atomicWrite: "writes an atomic",
  exchange: "compares and exchanges", note: "notes", sharedLock: "locks for reading",
  trySharedLock: "tries to lock for reading", wait: "waits to be woken", wake: "wakes a thread",
  acquire: "takes from a semaphore", tryAcquire: "tries to take from a semaphore",
  signal: "signals a semaphore", start: "starts a thread", join: "waits for a thread to end",
  send: "sends work to a queue", receive: "takes work from its queue", enter: "enters a group",
  leave: "leaves a group", await: "waits for work to finish",
  tryAwait: "checks whether work has finished", notify: "registers work to follow",
  arrive: "arrives at an actor", resume: "resumes a task", finish: "ends",
  cancel: "cancels a task", ask: "asks whether it is cancelled", yield: "yields",
  elapse: "wakes up",
};

function phrase(label) {
  if (label.kind === "note") return label.text;
  const verb = label.remark || verbs[label.kind];
  const what = verb + (label.name === "" ? "" : ` ${label.name}`)
    + (label.owner === "" ? "" : ` of ${label.owner}`);
  return label.failed ? `${what}, and fails` : what;
}

// A short name for a step, where there is little room: its line and the property.
function shortly(label) {
  if (label.kind === "note") return `» ${label.text}`;
  const what = label.name || { lock: "lock", tryLock: "try lock" }[label.kind] || "";
  return label.site ? `${label.site.line} ${what}`.trim() : what || label.remark || verbs[label.kind];
}
