"use strict";

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

  // The same for two paths that differ only in the order of independent steps.
  get kind() {
    const steps = this.race.threads.map(() => []);
    for (const { label } of this.edges) steps[label.thread].push(label.identity);
    return JSON.stringify(steps);
  }

  // The path itself if it has ended; otherwise one of its continuations, a failing one if possible.
  completed() {
    const path = this.first(this.length);
    while (!path.ending && this.race.nodes[path.node].edges.length > 0) {
      const { edges } = this.race.nodes[path.node];
      path.edges.push(edges.find(edge => this.race.failing[edge.target] > 0) || edges[0]);
    }
    return path;
  }

  // Follows a list of keys as far as possible without a problem: a step that is impossible is left
  // out. Then every thread goes on to its end.
  takeSimilar(keys) {
    for (const key of keys) this.take(key) || this.take(key[0]);
    while (!this.ending && this.race.nodes[this.node].edges.length > 0) {
      this.edges.push(this.race.nodes[this.node].edges[0]);
    }
  }

  // The text that `promise-lab replay` accepts.
  get schedule() {
    let text = "";
    let start = 0;
    const keys = this.keys;
    while (start < keys.length) {
      let end = start;
      while (end < keys.length && keys[end] === keys[start]) end += 1;
      text += end - start > 4 && !keys[start].includes("~") ? keys[start] + (end - start) : keys[start].repeat(end - start);
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
        sentence: wait.sentence || this.lockSentence(thread, wait.holder, wait.taken[1], wait.queue),
        holder: wait.holder, taken: wait.taken[1], text: wait.text,
        site: race.site(wait.site), owner: wait.owner, isForEver: true,
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
        wait.sentence = this.lockSentence(thread, other, taken[1]);
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
    return wait;
  }

  // - number: which of its steps the holder took the lock in.
  // - what: the queue that is such a lock.
  lockSentence(thread, holder, number, what = "the lock") {
    let steps = -1;
    const step = this.edges.findIndex(({ label }) => label.thread === holder && (steps += 1) === number);
    const who = holder === thread ? "it took itself" : `“${this.race.threads[holder]}” took`;
    return `waits for ${what} that ${who}${step < 0 ? "" : ` in step ${step + 1}`}`;
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
