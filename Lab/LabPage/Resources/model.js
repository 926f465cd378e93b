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
    this.knownKinds = new Map();
    this.columnOwners = this.findColumnOwners();
  }

  readLabel(values) {
    const [thread, action, flags, locks, conflictCount = 0] = values;
    const [kind, text, site, name] = this.data.actions[action];
    const pairs = (start, count) =>
      Array.from({ length: count }, (_, i) => [values[start + 2 * i], values[start + 2 * i + 1]]);
    const afterAt = 5 + 2 * conflictCount;
    const afterCount = values[afterAt] || 0;
    const takenAt = afterAt + 1 + 2 * afterCount;
    const [owner, remark, hidden = "", reads = ""] = this.data.remarks[flags >> 3];
    const label = {
      thread, owner, remark, kind: this.data.kindNames[kind],
      text: text < 0 ? this.lineAt(site) : this.data.texts[text],
      site: this.site(site), name: this.data.names[name],
      failed: (flags & 1) !== 0, locks,
      mark: reads[0] === "~" ? reads : "-!*"[(flags >> 1 & 3) - 1] || "", reads: reads.replace("~", ""),
      conflicts: pairs(5, conflictCount), after: pairs(afterAt + 1, afterCount),
      taken: pairs(takenAt, Math.max(0, values.length - takenAt) / 2),
    };
    // What the step is, whatever was done before by steps that are independent of it.
    label.identity = [action, flags & 7, label.conflicts, label.after, hidden, label.reads].join("|");
    return label;
  }

  lineAt(site) {
    const [file, line] = this.data.sites[site];
    return this.files[file].lines.get(line).trim();
  }

  site(index) {
    if (index < 0) return null;
    const [file, line, column] = this.data.sites[index];
    return { file, line, column };
  }

  // An even number of values: a state and its ending. An odd number: a state, and pairs of label
  // and target. A state that is left out is that of the node before; a target, the node before.
  readNode(texts, index) {
    const values = texts.map(text => parseInt(text, 36));
    const edges = [];
    if (texts[0] !== "") this.lastState = values[0];
    const state = this.lastState;
    if (values.length % 2 === 0) return { state, ending: this.data.endings[values[1]], edges };
    for (let i = 1; i < values.length; i += 2) {
      const label = this.labels[values[i]];
      const target = index - (values[i + 1] || 1);
      if (!label || !(target >= 0)) throw new Error(`state ${index} leads nowhere`);
      // A value that is old after one step may be the newest one before it.
      const step = this.letters[label.thread] + (label.reads || label.mark);
      edges.push({ label, target, key: this.key(label), step });
    }
    return { state, ending: null, edges };
  }

  // For each column, the instance whose property it shows: the one whose modification changes it.
  // null if there are several, or none.
  findColumnOwners() {
    const owners = this.columns.map(() => new Set());
    const values = index => this.data.states[this.nodes[index].state];
    this.nodes.forEach((node, index) => node.edges.forEach(({ label, target }) => {
      const [before, after] = [values(index), values(target)];
      const column = this.columns.indexOf(label.name);
      if (label.kind === "modify" && column >= 0 && before && after && before[column] !== after[column]) owners[column].add(label.owner);
    }));
    return owners.map(set => set.size === 1 ? [...set][0] : null);
  }

  // An instance in a sentence: the name of a constant, or its class and a letter.
  instance(owner) {
    const known = this.data.owners.find(({ names }) => names.includes(owner));
    return known && owner.length === 1 ? `${known.type} ${owner}` : owner;
  }

  key(label) { return this.letters[label.thread] + label.mark; }

  // The number of interleavings from each state, and how many of them fail. A state comes after the
  // targets of its steps, so their counts are known.
  count() {
    this.total = [];
    this.failing = [];
    this.nodes.forEach((node, index) => {
      const sum = values => node.edges.reduce((all, edge) => all + values[edge.target], 0);
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
    const own = edges.find(edge => edge.label.thread === thread && !edge.label.mark)
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
      const match = /^(.)(~\d+|[-!*]?)(\d*)/u.exec(rest);
      const letter = match[1].toUpperCase();
      if (!this.letters.includes(letter)) {
        return { path, problem: `no thread has the letter “${match[1]}”` };
      }
      const times = match[3] === "" ? 1 : Number(match[3]);
      for (let i = 0; i < times; i += 1) {
        if (!path.take(letter + match[2])) {
          const name = this.threads[this.letters.indexOf(letter)];
          const why = this.data.coverage === "all"
            ? `“${name}” cannot take it` : "this page has no such interleaving";
          return { path, problem: `step ${path.length + 1} does not fit: ${why}` };
        }
      }
      rest = rest.slice(match[0].length);
    }
    return { path, problem: null };
  }

  // Of the interleavings whose endings have the lowest rank, the one with the fewest context
  // switches; of those, the shortest. An ending without a rank is left out.
  simplest(rank) {
    const best = new Map();
    const visit = (index, last) => {
      const key = index * (this.threads.length + 1) + last + 1;
      if (best.has(key)) return best.get(key);
      const node = this.nodes[index];
      const value = node.ending ? rank(node.ending) : null;
      let result = value === null ? null : { cost: value * 1e9, keys: [] };
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

  // A circle of threads that wait for each other explains a deadlock better than a thread that
  // waits for itself.
  get counterexample() {
    return this.simplest(ending => ending.findings.length === 0 ? null : isCircle(ending) ? 0 : 1);
  }

  get survivor() { return this.simplest(ending => ending.findings.length === 0 ? 0 : null); }

  // Every state that can be reached from `start`, with the number of steps of each thread and the
  // number of paths.
  places(start = this.root, startCounts = this.threads.map(() => 0)) {
    const places = new Map();
    const queue = [{ index: start, node: this.nodes[start], counts: startCounts, ways: 1 }];
    places.set(placeKey(start, startCounts), queue[0]);
    for (let i = 0; i < queue.length; i += 1) {
      const place = queue[i];
      for (const edge of place.node.edges) {
        const counts = place.counts.slice();
        counts[edge.label.thread] += 1;
        const key = placeKey(edge.target, counts);
        let next = places.get(key);
        if (!next) {
          next = { index: edge.target, node: this.nodes[edge.target], counts, ways: 0 };
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

  // Whether two steps of different threads can be taken in any order, and stay what they are.
  commute(one, other) {
    const isSame = (first, second) => {
      const next = this.nodes[first.target].edges.find(edge => edge.step === second.step);
      return next !== undefined && next.label.identity === second.label.identity;
    };
    return one.label.thread !== other.label.thread && isSame(one, other) && isSame(other, one);
  }

  // The steps from a state, each with the steps that need not come right after it: other orders of
  // the same steps begin with those (sleep sets, Godefroid 1990).
  // - asleep: steps that need not be taken in this state.
  *awake(index, asleep, last) {
    const { edges } = this.nodes[index];
    const others = edges.filter(edge => !asleep.includes(edge.step));
    others.sort((a, b) => (a.label.thread === last ? 0 : 1) - (b.label.thread === last ? 0 : 1));
    const known = asleep.slice();
    for (const edge of others) {
      edge.free = edge.free || edges.filter(other => this.commute(edge, other)).map(({ step }) => step);
      yield [edge, known.filter(step => edge.free.includes(step)).sort()];
      known.push(edge.step);
    }
  }

  // How many kinds of interleavings begin with the steps that lead to a state, and how many of them
  // fail. Interleavings of one kind differ only in the order of independent steps.
  kindsFrom(index, asleep = []) {
    const key = `${index}:${asleep}`;
    const known = this.knownKinds.get(key);
    if (known) return known;
    const { ending } = this.nodes[index];
    const sum = { all: ending ? 1 : 0, failing: ending && ending.findings.length > 0 ? 1 : 0 };
    for (const [edge, rest] of this.awake(index, asleep)) {
      const { all, failing } = this.kindsFrom(edge.target, rest);
      sum.all += all;
      sum.failing += failing;
    }
    this.knownKinds.set(key, sum);
    return sum;
  }

  // Every interleaving. There can be very many.
  paths() {
    const paths = [];
    const visit = path => {
      if (path.ending) paths.push(path);
      for (const edge of this.nodes[path.node].edges) {
        const longer = path.first(path.length);
        longer.edges.push(edge);
        visit(longer);
      }
    };
    visit(new Path(this));
    return paths;
  }

  // The number of kinds on the page.
  get kindCount() { return this.kindsFrom(this.root).all; }

  // One interleaving of each kind, those with the fewest context switches first.
  kinds() {
    if (this.allKinds) return this.allKinds;
    const paths = [];
    const visit = (path, asleep) => {
      if (path.ending) paths.push(path);
      const last = path.length > 0 ? path.edges[path.length - 1].label.thread : -1;
      for (const [edge, rest] of this.awake(path.node, asleep, last)) {
        if (this.kindsFrom(edge.target, rest).all === 0) continue;
        const longer = path.first(path.length);
        longer.edges.push(edge);
        visit(longer, rest);
      }
    };
    visit(new Path(this), []);
    this.allKinds = paths.sort((a, b) => a.switches - b.switches || a.length - b.length)
      .map(path => ({ schedule: path.schedule, path, fails: path.fails }));
    return this.allKinds;
  }
}

// Whether several threads wait for each other.
function isCircle(ending) {
  return ending.waiting.some(({ thread, holder }) => {
    const seen = new Set([thread]);
    for (let at = holder; at >= 0 && at !== thread;) {
      if (seen.has(at)) return false;
      seen.add(at);
      const next = ending.waiting.find(wait => wait.thread === at);
      at = next ? next.holder : -1;
      if (at === thread) return true;
    }
    return false;
  });
}

// The kinds of step whose happens-before edges the page knows. Tasks, groups and conditions add
// edges that only the lab knows.
const kindsInOrder = new Set([
  "read", "modify", "lock", "tryLock", "sharedLock", "trySharedLock", "atomicRead", "atomicWrite",
  "exchange", "note", "acquire", "tryAcquire", "signal", "start", "begin", "send", "receive",
  "queueUp", "sharedQueueUp",
]);
