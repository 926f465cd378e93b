"use strict";

// The action of each kind of step, in a few words.
const verbs = {
  read: "reads", modify: "writes", lock: "takes the lock", tryLock: "tries the lock",
  atomicRead: "reads an atomic", atomicWrite: "writes an atomic",
  exchange: "compares and exchanges", note: "notes", sharedLock: "locks for reading",
  trySharedLock: "tries to lock for reading", wait: "waits to be woken", wake: "wakes a thread",
  acquire: "takes from a semaphore", tryAcquire: "tries to take from a semaphore",
  signal: "signals a semaphore", start: "starts a thread", begin: "begins",
  join: "waits for a thread to end", send: "sends work to a queue", receive: "takes the work",
  queueUp: "queues up", sharedQueueUp: "queues up", enter: "enters a group",
  leave: "leaves a group", await: "waits for work to finish",
  tryAwait: "checks whether work has finished", notify: "registers work to follow",
  letGo: "releases an object",
  arrive: "arrives at an actor", resume: "resumes a task", finish: "ends",
  cancel: "cancels a task", ask: "asks whether it is cancelled", yield: "yields",
  elapse: "wakes up",
};

const deedOf = label => label.remark || verbs[label.kind];

function phrase(race, label) {
  if (label.kind === "note") return label.text;
  const verb = deedOf(label);
  const isAccess = label.kind === "read" || label.kind === "modify";
  const what = isAccess ? `${verb} ${thing(race, label)}`
    : verb + (label.owner === "" ? "" : ` of ${race.instance(label.owner)}`);
  return label.failed ? `${what}, and fails` : what;
}

// A short name for a step, where there is little room: its line and the property.
function shortly(label) {
  if (label.kind === "note") return `» ${label.text}`;
  const what = label.name || { lock: "lock", tryLock: "try lock" }[label.kind] || "";
  return label.site ? `${label.site.line} ${what}`.trim() : what || deedOf(label);
}

// What a step accesses: a property, or a line of source, and of which instance.
function thing(race, label) {
  const owner = label.owner === "" ? "" : ` of ${race.instance(label.owner)}`;
  if (label.name !== "") return `${label.name}${owner}`;
  return label.text === "" ? "" : `“${clipped(label.text, 40)}”${owner}`;
}

// What a step of a path did, in sentences: what it read or changed, where it goes on, and which
// threads it wakes or blocks.
function told(path, index) {
  const { race } = path;
  const label = path.edges[index].label;
  const states = path.states();
  const [before, after] = [path.first(index), path.first(index + 1)];
  const name = race.threads[label.thread];
  const line = label.site ? `, line ${label.site.line}` : "";
  const changes = states[index + 1].changed
    .map(i => `${race.data.titles[i]} changes from ${states[index].values[i]} to ${states[index + 1].values[i]}`);
  const sentences = [`${name}${label.kind === "note" ? ":" : ""} ${deed(path, label, states[index])}${line}${wayOn(after, label)}`];
  if (changes.length > 0) sentences.push(changes.join(", "));
  race.threads.forEach((other, thread) => {
    const [was, is] = [before.waiting(thread), after.waiting(thread)];
    if (is && (!was || thread === label.thread)) sentences.push(`${other} now ${is.sentence}`);
    if (was && !is && thread !== label.thread && race.next(after.node, thread)) sentences.push(`${other} can go on`);
  });
  return sentences;
}

// What a step does. A property that is shown as a column is read with its value.
function deed(path, label, state) {
  if (label.kind === "note") return label.text;
  const column = label.kind === "read" && label.name !== ""
    ? path.race.columns.findIndex((name, i) => name === label.name && path.race.columnOwners[i] === label.owner) : -1;
  if (column >= 0 && !state.isLocked) return `reads ${label.name}: it is ${state.values[column]}`;
  const isAccess = label.kind === "read" || label.kind === "modify";
  const what = isAccess ? thing(path.race, label) : label.owner === "" ? "" : `of ${path.race.instance(label.owner)}`;
  return [deedOf(label), what, label.failed ? "and fails" : ""].filter(word => word !== "").join(" ");
}

// After a condition, the line where the thread goes on.
function wayOn(path, label) {
  if (!/^(\} else )?(if|guard|while|switch)\b/.test(label.text)) return "";
  const next = path.race.next(path.node, label.thread);
  if (!next || !next.site || !label.site || next.site.line === label.site.line) return "";
  return `, and goes on at line ${next.site.line}`;
}

// Why every interleaving fails from a step on: the step of another thread that comes too late or too
// early. At the end of the path, the verdict says how they fail. An empty text if no step decided.
function decision(path) {
  const index = path.pointOfNoReturn;
  if (index < 0) return "";
  const { race } = path;
  const label = path.edges[index].label;
  const name = race.threads[label.thread];
  const whole = path.completed();
  // One reason is enough, and a failed check says more than the other findings.
  const { findings } = whole.ending;
  const reason = race.reason(findings.find(number => race.data.findings[number].kind === "failed check") ?? findings[0]);
  const verb = deed(path, label, path.states()[index]);
  const doing = other => `${race.threads[other.thread]}${other.kind === "note" ? `: ${other.text}` : ` ${verbs[other.kind]} ${thing(race, other)}`}`
    + (other.site ? ` (line ${other.site.line})` : "");
  const start = `${name}${label.kind === "note" ? ":" : ""} ${verb}`;
  const position = path.first(index).counts()[label.thread];
  const isPartner = other => other.thread !== label.thread
    && other.conflicts.some(([thread, step]) => thread === label.thread && step === position);
  const later = whole.edges.slice(index + 1).map(edge => edge.label).find(isPartner);
  const [earlier] = label.conflicts;
  if (whole.ending.waiting.some(wait => wait.holder >= 0)) {
    const waiting = whole.ending.waiting.map(({ thread }) => `${race.threads[thread]} ${whole.waiting(thread).sentence}`);
    return `${start}${path.ending ? "" : `: ${waiting.join(", and ")}`}. No order of the remaining steps lets the threads go on.`;
  }
  let why = start;
  if (later) {
    why = `${start}, and only then ${doing(later)}`;
  } else if (earlier) {
    const other = path.edges.filter(edge => edge.label.thread === earlier[0])[earlier[1]];
    why = `${start} after ${other ? doing(other.label) : `${race.threads[earlier[0]]} was there`}`;
  }
  return `${why}. From here on, every interleaving fails${path.ending ? "" : `: ${reason}`}.`;
}

// The other way in which a step can end.
function otherwise(label) {
  if (label.mark === "!") return "times out";
  if (label.mark === "*") return "wakes up without a signal";
  if (label.mark[0] === "~") return label.remark;
  return "tries right before the lock is released, and fails";
}
