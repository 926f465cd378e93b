"use strict";

// The map of all interleavings. For two threads it is a grid: a step of the first thread leads to
// the right, a step of the second one down. For more threads it is a graph of states.
class InterleavingMap {
  constructor(race, actions) {
    this.race = race;
    this.actions = actions;
    this.onlyKinds = false;
    // A path to draw on the map instead of the user's path.
    this.shown = null;
    this.places = race.places();
    this.isGrid = race.threads.length === 2;
    this.node = element("div", {
      class: "map", tabindex: 0, role: "group", onkeydown: event => this.key(event),
      "aria-label": this.isGrid
        ? `Map. The right arrow takes a step of ${race.threads[0]}, the down arrow one of ${race.threads[1]}, the left arrow goes back.`
        : "Map. The right arrow takes a step, the left arrow goes back, up and down choose another step.",
    });
    this.caption = element("p", { class: "caption" });
    // Before the verdicts are revealed, only what was tried is drawn.
    this.tried = { points: new Map(), roads: new Map(), ends: new Map() };
    this.node.addEventListener("pointerover", event => this.explain(event.target.closest(".kind, .point")));
    this.node.addEventListener("pointerleave", () => this.explain(null));
  }

  static limit = 1500;
  // A map up to this width shrinks to fit the page; a wider one shrinks less, and scrolls.
  static readable = 700;

  key(event) {
    const direction = { ArrowRight: "right", ArrowLeft: "left", ArrowUp: "up", ArrowDown: "down" }[event.key];
    if (!direction || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.actions.walk(direction);
  }

  // Draws everything the first time, and then only what a step changes: a map can have thousands of
  // elements, and the page must respond to a step within a frame.
  draw(path, isRevealed = true, isVeiled = false) {
    if (!this.isGrid && this.places.length > InterleavingMap.limit) {
      put(this.node, element("p", { class: "note" }, `There are ${this.places.length.toLocaleString("en")} states, too many to draw.`));
      return;
    }
    if (!this.base || this.base.onlyKinds !== this.onlyKinds) {
      this.walkedNode = shape("path", { class: "walked" });
      this.hereNode = shape("circle", { r: 12, class: "here" }, shape("title", {}, "you are here"));
      this.linkNode = shape("g", {});
      this.veilNode = shape("g", {});
      this.base = { onlyKinds: this.onlyKinds, ...(this.isGrid ? this.grid() : this.graph()) };
      put(this.node, this.base.picture);
    }
    this.node.classList.toggle("veiled", !isRevealed);
    if (isRevealed) put(this.veilNode);
    else this.drawTried(path, isVeiled);
    if (isRevealed && this.isGrid && !this.onlyKinds) this.dimWhatIsBehind(path);
    if (!this.node.matches(":hover")) this.explain(null);
    this.markWay(this.shown || path);
  }

  // The places and steps that were tried so far; endings with a verdict, unless it is hidden.
  drawTried(path, isVeiled) {
    let before = null;
    for (let length = 0; length <= path.length; length += 1) {
      const part = path.first(length);
      const at = this.base.at(part);
      if (!at) continue;
      this.tried.points.set(at.join(), at);
      if (before) this.tried.roads.set(`${before}>${at}`, [before, at, path.edges[length - 1].label.thread]);
      before = at;
    }
    if (path.ending && before) this.tried.ends.set(`${before}${path.fails}`, [before, path.fails]);
    const ends = isVeiled ? [] : [...this.tried.ends.values()];
    put(this.veilNode, [...this.tried.roads.values()].map(road => this.road(...road)),
      [...this.tried.points.values()].map(([x, y]) => sign(x, y, "mixed", 5)),
      ends.map(([[x, y], fails], i, all) => {
        const isShared = all.some(([[ox, oy], other]) => ox === x && oy === y && other !== fails);
        return sign(isShared ? x + (fails ? 8 : -8) : x, y, fails ? "fails" : "survives", 6.5);
      }));
  }

  // Draws a ring around places that are lit up elsewhere.
  light(paths) {
    if (!this.base) return;
    put(this.linkNode, paths.map(path => this.base.at(path)).filter(place => place)
      .map(([x, y]) => shape("circle", { cx: x, cy: y, r: 16, class: "link-ring" })));
  }

  // Describes the path or the state under the pointer.
  explain(target) {
    const isKnown = target && !this.node.classList.contains("veiled");
    this.caption.textContent = isKnown ? target.querySelector("title").textContent : "";
    this.actions.point(isKnown && target.dataset.length !== undefined ? this.stepOf(target.dataset.length) : null);
  }

  // The step of the current path that leads to a point of the map; null if none does.
  stepOf(counts) {
    const path = this.current;
    if (!path) return null;
    for (let length = 1; length <= path.length; length += 1) {
      if (path.first(length).counts().join() === counts) return length - 1;
    }
    return null;
  }

  markWay(path) {
    this.current = path;
    const points = [...Array(path.length + 1).keys()].map(length => this.base.at(path.first(length)))
      .filter(point => point);
    const last = points[points.length - 1];
    this.base.picture.setAttribute("aria-label", `${this.words}. ${this.nameOf(path.counts())}`);
    this.walkedNode.setAttribute("d", points.length > 1 ? `M${points.map(point => point.join(" ")).join("L")}` : "");
    this.hereNode.classList.toggle("nowhere", !last || (this.shown !== null && this.shown.length === 0));
    if (!last) return;
    this.hereNode.setAttribute("cx", last[0]);
    this.hereNode.setAttribute("cy", last[1]);
    this.keepInSight(last);
  }

  get isWide() { return this.base !== undefined && this.base.width > InterleavingMap.readable; }

  // Scrolls a wide map so that the current state stays visible.
  keepInSight(point) {
    if (!this.isWide) return;
    const { clientWidth, clientHeight, scrollWidth, scrollHeight, scrollLeft, scrollTop } = this.node;
    const scale = scrollWidth / this.base.width;
    const follow = (place, from, room) => place < from + 40 || place > from + room - 40 ? place - room / 3 : from;
    this.node.scrollTo(follow(point[0] * scale, scrollLeft, clientWidth), follow(point[1] * scale, scrollTop, clientHeight));
  }

  // Dims the states that can no longer be reached; the others show what is still possible.
  dimWhatIsBehind(path) {
    const places = this.race.places(path.node, path.counts());
    const ahead = this.pointsFrom(path, places);
    for (const [key, drawn] of this.base.points) {
      const point = ahead.get(key) || this.base.all.get(key);
      const signature = this.signature(point, ahead.has(key));
      if (drawn.signature === signature) continue;
      drawn.signature = signature;
      const sign = this.signOf(point, ...this.base.of(point.counts));
      sign.classList.toggle("aside", !ahead.has(key));
      drawn.node.replaceWith(sign);
      drawn.node = sign;
    }
    const open = new Set(this.edgesOf(places).map(({ key }) => key));
    for (const [key, node] of this.base.roads) node.classList.toggle("aside", !open.has(key));
  }

  signature(point, isAhead) {
    const fate = point.failing === 0 ? 0 : point.failing === point.through ? 1 : 2;
    return `${isAhead} ${fate} ${[...point.fates]} ${point.ends}`;
  }

  // The content of each point of the grid. Several states can share a point: the same numbers of
  // steps, in different orders.
  points(places) {
    const points = new Map();
    for (const { index, node, counts, ways } of places) {
      const key = counts.join(",");
      const point = points.get(key)
        || { counts, through: 0, failing: 0, ends: false, fates: new Set() };
      point.through += ways * this.race.total[index];
      point.failing += ways * this.race.failing[index];
      point.ends = point.ends || node.ending !== null;
      point.fates.add(this.race.fate(index));
      points.set(key, point);
    }
    return points;
  }

  // The points on the path to the current state, and those that can be reached from it.
  pointsFrom(path, places) {
    const points = this.points(places);
    for (let length = 0; length < path.length; length += 1) {
      const part = path.first(length);
      const [point] = this.points([{ index: part.node, node: this.race.nodes[part.node], counts: part.counts(), ways: 1 }]).values();
      points.set(part.counts().join(","), point);
    }
    return points;
  }

  // For each thread and step, a short name, with an ellipsis if it differs between interleavings.
  // Also collects the conflicting pairs of steps, with the names of those that conflict.
  get stepNames() {
    if (this.allStepNames) return this.allStepNames;
    const names = this.race.threads.map(() => []);
    this.conflicts = new Map();
    for (const { index, counts } of this.places) {
      for (const { label } of this.race.nodes[index].edges) {
        const number = counts[label.thread];
        (names[label.thread][number] = names[label.thread][number] || new Set()).add(shortly(label));
        for (const [other, step] of label.conflicts) {
          const pair = label.thread === 0 ? `${number},${step}` : `${step},${number}`;
          const sides = this.conflicts.get(pair) || [new Set(), new Set()];
          sides[label.thread === 0 ? 0 : 1].add(shortly(label));
          this.conflicts.set(pair, sides);
        }
      }
    }
    this.allStepNames = names.map(list => Array.from(list, set => {
      const all = [...(set || [])];
      return all.length > 1 ? `${all[0]} …` : all[0] || "";
    }));
    return this.allStepNames;
  }

  grid() {
    const [across, down] = this.stepNames;
    const size = across.length > 14 || down.length > 14 ? 30 : 44;
    const left = 128;
    const top = 104;
    const at = ([i, j]) => [left + i * size, top + j * size];
    const width = left + across.length * size + 34;
    const height = top + down.length * size + 34;
    const axes = [];
    const parts = [];
    const { threads } = this.race;
    axes.push(
      label(left, 16, `${threads[0]} →`, { class: "name fill-t0" }),
      label(8, top - 8, `${threads[1]} ↓`, { class: "name fill-t1" }));
    across.forEach((name, i) => {
      const [x] = at([i + 0.5, 0]);
      axes.push(label(x, top - 12, clipped(name, 13), { class: "small fill-t0", transform: `rotate(-52 ${x} ${top - 12})` }));
    });
    down.forEach((name, j) => {
      const [, y] = at([0, j + 0.5]);
      axes.push(label(left - 12, y + 4, clipped(name, 14), { class: "small fill-t1", "text-anchor": "end" }));
    });
    for (const [pair, sides] of this.conflicts) {
      const [i, j] = pair.split(",").map(Number);
      const [one, other] = [across[i], down[j]].map((name, side) => [...sides[side]].join(" or ") || name);
      const [x, y] = at([i, j]);
      parts.push(shape("rect", { x: x + 3, y: y + 3, width: size - 6, height: size - 6, class: "conflict" },
        shape("title", {}, `conflict: ${one} and ${other} touch the same object, and the order matters`)));
    }
    const all = this.points(this.places);
    const points = new Map();
    const roads = new Map();
    if (this.onlyKinds) {
      parts.push(this.kindLines(at));
      for (const point of this.pointsOfKinds()) parts.push(this.signOf(point, ...at(point.counts)));
    } else {
      for (const { key, from, to, thread } of this.edgesOf(this.places)) {
        roads.set(key, this.road(at(from), at(to), thread));
      }
      for (const [key, point] of all) {
        points.set(key, { signature: this.signature(point, true), node: this.signOf(point, ...at(point.counts)) });
      }
      parts.push([...roads.values()], [...points.values()].map(({ node }) => node));
    }
    return {
      picture: this.finish(width, height, axes, parts), width, all, points, roads, of: at,
      at: path => at(path.counts()),
    };
  }

  // The name of a place, from the number of steps of each thread.
  nameOf(counts) {
    const parts = counts.map((count, i) => count === 0 ? "" : `${count} ${count === 1 ? "step" : "steps"} of ${this.race.threads[i]}`)
      .filter(part => part !== "");
    return parts.length > 0 ? `After ${parts.join(" and ")}` : "At the beginning";
  }

  signOf(point, x, y) {
    const words = `${this.nameOf(point.counts)}: `
      + (point.failing === 0 ? "every interleaving through here ends well"
        : point.failing === point.through ? "every interleaving through here fails" : "some interleavings through here fail");
    const fates = ["mixed", "survives", "fails"].filter(fate => point.fates.has(fate));
    return shape("g", { class: "point", "data-length": point.counts.join(), onclick: () => this.actions.goTo(point.counts, point.index) },
      shape("circle", { cx: x, cy: y, r: 14, class: "target" }),
      fates.map((fate, i) => sign(x + (i - (fates.length - 1) / 2) * 13, y, fate, point.ends ? 6.5 : 5)),
      shape("title", {}, words));
  }

  // The steps between points, without duplicates.
  edgesOf(places) {
    const edges = new Map();
    for (const { node, counts } of places) {
      for (const edge of node.edges) {
        const key = `${counts}>${edge.label.thread}`;
        if (edges.has(key)) continue;
        const to = counts.slice();
        to[edge.label.thread] += 1;
        edges.set(key, { key, from: counts, to, thread: edge.label.thread });
      }
    }
    return [...edges.values()];
  }

  road([x1, y1], [x2, y2], thread) {
    return shape("path", { d: `M${x1} ${y1}L${x2} ${y2}`, class: `road stroke-t${thread % 4}` });
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
      const words = `kind ${number + 1}: ${kind.schedule}, ${
        kind.fails ? `✗ ${kind.path.ending.findings.map(index => this.race.reason(index)).join("; ")}` : "✓ every check holds"}`;
      return shape("path", {
        d: `M${points.join("L")}`, class: `kind ${kind.fails ? "fails" : "survives"}`,
        onclick: () => this.actions.show(kind.schedule),
      }, shape("title", {}, words));
    });
  }

  // The states in layers: all states in a layer are reached with the same number of steps.
  graph() {
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
          parts.push(this.road([place.x, place.y], [target.x, target.y], thread));
        }
      }
    }
    for (const place of positions.values()) {
      parts.push(this.signOf({
        counts: place.counts, index: place.index, through: this.race.total[place.index],
        failing: this.race.failing[place.index], ends: this.race.nodes[place.index].ending !== null,
        fates: new Set([this.race.fate(place.index)]),
      }, place.x, place.y));
    }
    const width = 24 + (layers.length - 1) * step + 30;
    const at = path => {
      const place = positions.get(placeKey(path.node, path.counts()));
      return place ? [place.x, place.y] : null;
    };
    return { picture: this.finish(width, height, [], parts), width, at };
  }

  followers(place) {
    return this.race.nodes[place.index].edges.map(edge => {
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

  // The path that was walked lies under the signs of the places.
  finish(width, height, axes, parts) {
    const isSign = part => part.classList && part.classList.contains("point");
    const flat = parts.flat(Infinity);
    const picture = drawing(width, height, this.words, axes,
      shape("g", { class: "content" }, flat.filter(part => !isSign(part))), this.veilNode, this.walkedNode,
      shape("g", { class: "content" }, flat.filter(isSign)), this.linkNode, this.hereNode);
    picture.style.maxWidth = `calc(${width}px * var(--map-scale, 1.2))`;
    // A smaller map would be unreadable, so it scrolls instead.
    picture.style.minWidth = width > InterleavingMap.readable ? `${width * 0.62}px` : null;
    return picture;
  }

  get words() {
    return `Map of all interleavings of ${this.race.threads.join(", ")}`;
  }
}
