"use strict";

// The map of all interleavings. For two threads it is a grid: a step of the first thread goes to the
// right, a step of the second one down. For more threads it is a graph of states.
class InterleavingMap {
  constructor(race, actions) {
    this.race = race;
    this.actions = actions;
    this.onlyKinds = false;
    // A path to draw on the whole map, instead of the reader's.
    this.shown = null;
    this.places = race.places();
    this.isGrid = race.threads.length === 2;
    this.node = element("div", { class: "map" });
  }

  static limit = 1500;

  draw(path) {
    const isTooLarge = !this.isGrid && this.places.length > InterleavingMap.limit;
    const picture = isTooLarge
      ? element("p", { class: "note" }, `There are ${this.places.length} states, too many to draw.`)
      : this.isGrid ? this.grid(path) : this.graph(path);
    put(this.node, picture);
  }

  // What the grid shows at each point. Several states can share one: the same numbers of steps, in
  // another order.
  points(places) {
    const points = new Map();
    for (const { index, counts, ways } of places) {
      const key = counts.join(",");
      const point = points.get(key)
        || { counts, through: 0, failing: 0, ends: false, fates: new Set() };
      point.through += ways * this.race.total[index];
      point.failing += ways * this.race.failing[index];
      point.ends = point.ends || this.race.nodes[index].ending !== null;
      point.fates.add(this.race.fate(index));
      points.set(key, point);
    }
    return points;
  }

  // The points on the way here, and those that can be reached from here.
  pointsFrom(path) {
    const points = this.points(this.race.places(path.node, path.counts()));
    for (let length = 0; length < path.length; length += 1) {
      const part = path.first(length);
      const [point] = this.points([{ index: part.node, counts: part.counts(), ways: 1 }]).values();
      points.set(part.counts().join(","), point);
    }
    return points;
  }

  // For each thread and step, what the source says there.
  get stepNames() {
    if (this.allStepNames) return this.allStepNames;
    const names = this.race.threads.map(() => []);
    this.conflicts = new Set();
    for (const { index, counts } of this.places) {
      for (const { label } of this.race.nodes[index].edges) {
        const number = counts[label.thread];
        (names[label.thread][number] = names[label.thread][number] || new Set()).add(shortly(label));
        for (const [other, step] of label.conflicts) {
          this.conflicts.add(label.thread === 0 ? `${number},${step}` : `${step},${number}`);
        }
      }
    }
    this.allStepNames = names.map(list => Array.from(list, set => {
      const all = [...(set || [])];
      return all.length > 1 ? `${all[0]} …` : all[0] || "";
    }));
    return this.allStepNames;
  }

  grid(path) {
    const [across, down] = this.stepNames;
    const size = across.length > 14 || down.length > 14 ? 30 : 44;
    const left = 128;
    const top = 104;
    const at = ([i, j]) => [left + i * size, top + j * size];
    const width = left + across.length * size + 34;
    const height = top + down.length * size + 34;
    const parts = [];
    const { threads } = this.race;
    parts.push(
      label(left, 16, `${threads[0]} →`, { class: "name fill-t0" }),
      label(8, top - 8, `${threads[1]} ↓`, { class: "name fill-t1" }));
    across.forEach((name, i) => {
      const [x] = at([i + 0.5, 0]);
      parts.push(label(x, top - 12, clipped(name, 13), { class: "small fill-t0", transform: `rotate(-52 ${x} ${top - 12})` }));
    });
    down.forEach((name, j) => {
      const [, y] = at([0, j + 0.5]);
      parts.push(label(left - 12, y + 4, clipped(name, 14), { class: "small fill-t1", "text-anchor": "end" }));
    });
    for (const pair of this.conflicts) {
      const [i, j] = pair.split(",").map(Number);
      const [x, y] = at([i, j]);
      parts.push(shape("rect", { x: x + 3, y: y + 3, width: size - 6, height: size - 6, class: "conflict" },
        shape("title", {}, `conflict: ${across[i]} and ${down[j]} touch the same object, and the order matters`)));
    }
    if (this.onlyKinds) {
      parts.push(this.kindLines(at), this.walked(path, at));
      for (const point of this.pointsOfKinds()) parts.push(this.signOf(point, ...at(point.counts)));
    } else {
      const ahead = this.pointsFrom(path);
      const aside = [...this.points(this.places).values()]
        .filter(point => !ahead.has(point.counts.join(",")));
      const drawn = points => points.map(point => this.signOf(point, ...at(point.counts)));
      parts.push(shape("g", { class: "aside" }, this.roads(this.places, at), drawn(aside)),
        this.roads(this.race.places(path.node, path.counts()), at),
        this.walked(this.shown || path, at), drawn([...ahead.values()]));
    }
    if (!this.shown || this.shown.length > 0) parts.push(this.here(at((this.shown || path).counts())));
    return this.finish(width, height, parts);
  }

  signOf(point, x, y) {
    const words = `${point.counts.map((count, i) => `${this.race.threads[i]} ${count}`).join(", ")}: `
      + (point.through === 1 ? "one interleaving through here, and it "
        + (point.failing === 1 ? "fails" : "ends well")
        : `${point.through} interleavings through here, ${point.failing} of them fail`);
    const fates = ["mixed", "survives", "fails"].filter(fate => point.fates.has(fate));
    return shape("g", { class: "point", onclick: () => this.actions.goTo(point.counts, point.index) },
      shape("circle", { cx: x, cy: y, r: 14, class: "target" }),
      fates.map((fate, i) => sign(x + (i - (fates.length - 1) / 2) * 13, y, fate, point.ends ? 6.5 : 5)),
      shape("title", {}, words));
  }

  roads(places, at) {
    const seen = new Set();
    const parts = [];
    for (const { index, counts } of places) {
      for (const edge of this.race.nodes[index].edges) {
        const next = counts.slice();
        next[edge.label.thread] += 1;
        const key = `${counts}>${next}`;
        if (edge.isExtra || seen.has(key)) continue;
        seen.add(key);
        const [x1, y1] = at(counts);
        const [x2, y2] = at(next);
        parts.push(shape("path", { d: `M${x1} ${y1}L${x2} ${y2}`, class: `road stroke-t${edge.label.thread % 8}` }));
      }
    }
    return parts;
  }

  pointsOfKinds() {
    const points = new Map();
    for (const kind of this.race.kinds()) {
      for (let length = 0; length <= kind.path.length; length += 1) {
        const counts = kind.path.first(length).counts();
        const point = points.get(counts.join(","))
          || { counts, through: 0, failing: 0, ends: false, fates: new Set() };
        point.through += 1;
        point.fates.add(this.race.fate(kind.path.first(length).node));
        point.failing += kind.fails ? 1 : 0;
        point.ends = point.ends || length === kind.path.length;
        points.set(counts.join(","), point);
      }
    }
    return [...points.values()];
  }

  kindLines(at) {
    const kinds = this.race.kinds().slice(0, 40);
    return kinds.map((kind, number) => {
      const shift = (number - (kinds.length - 1) / 2) * Math.min(4, 24 / kinds.length);
      const points = [...Array(kind.path.length + 1).keys()]
        .map(length => at(kind.path.first(length).counts()).map(value => value + shift).join(" "));
      const words = `kind ${number + 1}: ${kind.schedule}, ${kind.fails ? "fails" : "survives"}`;
      return shape("path", {
        d: `M${points.join("L")}`, class: `kind ${kind.fails ? "fails" : "survives"}`,
        onclick: () => this.actions.show(kind.schedule),
      }, shape("title", {}, words));
    });
  }

  walked(path, at) {
    const points = [...Array(path.length + 1).keys()].map(length => at(path.first(length).counts()).join(" "));
    return path.length === 0 ? null : shape("path", { d: `M${points.join("L")}`, class: "walked" });
  }

  here([x, y]) {
    return shape("circle", { cx: x, cy: y, r: 12, class: "here" }, shape("title", {}, "you are here"));
  }

  // Layers of states: those that are reached with the same number of steps.
  graph(path) {
    const layers = [];
    const positions = new Map();
    const shown = this.onlyKinds ? this.keysOfKinds() : null;
    for (const place of this.places) {
      const depth = place.counts.reduce((sum, count) => sum + count, 0);
      const key = placeKey(place.index, place.counts);
      if (shown && !shown.has(key)) continue;
      (layers[depth] = layers[depth] || []).push({ ...place, key, parents: [] });
      positions.set(key, layers[depth][layers[depth].length - 1]);
    }
    for (const place of positions.values()) {
      for (const [next] of this.followers(place)) {
        const target = positions.get(next);
        if (target) target.parents.push(place);
      }
    }
    const most = Math.max(...layers.map(layer => layer.length));
    const gap = Math.max(7, Math.min(30, 520 / most));
    const step = 44;
    const height = Math.max(80, most * gap + 40);
    layers.forEach((layer, depth) => {
      for (const place of layer) {
        const ys = place.parents.map(parent => parent.y);
        place.wish = ys.length > 0 ? ys.reduce((a, b) => a + b) / ys.length : height / 2;
      }
      layer.sort((a, b) => a.wish - b.wish);
      layer.forEach((place, i) => {
        place.x = 24 + depth * step;
        place.y = height / 2 + (i - (layer.length - 1) / 2) * Math.min(gap * 2.4, (height - 40) / layer.length);
      });
    });
    const parts = [];
    for (const place of positions.values()) {
      for (const [next, thread] of this.followers(place)) {
        const target = positions.get(next);
        if (target) {
          parts.push(shape("path", { d: `M${place.x} ${place.y}L${target.x} ${target.y}`, class: `road stroke-t${thread % 8}` }));
        }
      }
    }
    const own = [...Array(path.length + 1).keys()].map(length => {
      const part = path.first(length);
      return positions.get(placeKey(part.node, part.counts()));
    }).filter(place => place);
    if (own.length > 1) {
      parts.push(shape("path", { d: `M${own.map(place => `${place.x} ${place.y}`).join("L")}`, class: "walked" }));
    }
    for (const place of positions.values()) {
      parts.push(this.signOf({
        counts: place.counts, index: place.index, through: this.race.total[place.index],
        failing: this.race.failing[place.index], ends: this.race.nodes[place.index].ending !== null,
        fates: new Set([this.race.fate(place.index)]),
      }, place.x, place.y));
    }
    if (own.length > 0) parts.push(this.here([own[own.length - 1].x, own[own.length - 1].y]));
    return this.finish(24 + (layers.length - 1) * step + 30, height, parts);
  }

  followers(place) {
    return this.race.nodes[place.index].edges.filter(edge => !edge.isExtra).map(edge => {
      const counts = place.counts.slice();
      counts[edge.label.thread] += 1;
      return [placeKey(edge.target, counts), edge.label.thread];
    });
  }

  keysOfKinds() {
    const keys = new Set();
    for (const { path } of this.race.kinds()) {
      for (let length = 0; length <= path.length; length += 1) {
        const part = path.first(length);
        keys.add(placeKey(part.node, part.counts()));
      }
    }
    return keys;
  }

  finish(width, height, parts) {
    const picture = drawing(width, height, this.words, parts);
    picture.style.maxWidth = `${width * 1.2}px`;
    return picture;
  }

  get words() {
    const { total, failing, root, threads } = this.race;
    return `Map of all interleavings of ${threads.join(", ")}: ${failing[root]} of ${total[root]} fail`;
  }
}
