/// One row of a table that shows an interleaving; the tables for terminals and for documents share
/// it.
struct TraceRow {
    /// The number of the step; "–" for a thread that waits at the end; empty for the state before
    /// the first step.
    var number = ""
    var thread: Int?
    var cell = TraceCell()
    /// For each thread, the bar that shows whether it holds a lock.
    var bars: [String]
    /// `nil` if the row shows no states.
    var states: [String]?
    /// The state columns whose content differs from when they could last be read.
    var changes: [Int] = []
    var mark: String?

    /// The number, conspicuous if something goes wrong in the step.
    var numberSpan: Report.Span { Report.Span(number, mark == nil ? .plain : .remark) }

    func state(_ column: Int) -> Report.Span {
        let hasChanged = !number.isEmpty && changes.contains(column)
        return Report.Span(states?[column].onOneLine ?? "", hasChanged ? .change : .state)
    }

    func bar(_ thread: Int) -> Report.Span { Report.Span(bars[thread], thread: thread) }
}

/// The cell of the thread that makes a step.
struct TraceCell {
    var text = ""
    /// Whether the text is source code.
    var isCode = false
    /// The position of the access in the text.
    var access = 0
    /// The name of the instance that is accessed, if there are several.
    var owner = ""
    /// The line, with the file unless it is the file of most steps: `:12`, `Queue:12`.
    var site = ""
    /// What the line does not show, such as `fails` or `waits`.
    var comment = ""

    /// The part after the text.
    var place: String {
        [owner, site, comment].filter { !$0.isEmpty }.map { " \($0)" }.joined()
    }

    /// Both parts, in `width` columns if there is a limit.
    func spans(thread: Int?, width: Int? = nil) -> [Report.Span] {
        let role: Report.Span.Role = isCode ? .source : .plain
        func spans(_ text: String) -> [Report.Span] {
            [Report.Span(text, role, thread: thread), Report.Span(place, thread: thread)]
        }
        guard let width else { return spans(text) }
        let room = width - place.columns
        guard room > 3 else { return spans(text).cut(to: width).padded(to: width) }
        let shown = isCode ? text.cut(to: room, around: access) : text.cut(to: room)
        return spans(shown.padded(to: room))
    }
}

extension Exploration.Trace {
    /// The rows of a table: the initial state, if there are state columns; the steps, or what fails
    /// before the first one; and at the end what each waiting thread waits for.
    var rows: [TraceRow] {
        let home = mostFrequentFile
        var held = threads.map { _ in 0 }
        let locksHeld = locksHeldInSight
        var seen = initial
        var rows: [TraceRow] = []
        if !columns.isEmpty {
            rows.append(
                TraceRow(
                    bars: threads.map { _ in "" }, states: initial,
                    changes: Array(columns.indices)))
        }
        for (index, step) in steps.enumerated() {
            let before = held[step.thread]
            held[step.thread] = locksHeld[index]
            var bars = held.map(Exploration.Trace.bar)
            bars[step.thread] = Exploration.Trace.bar(before: before, after: locksHeld[index], step)
            if let holder = step.before, isLastAttempt(index, before: holder) {
                let after = lastStep(of: holder, before: index).map { steps[$0].locksHeld } ?? 0
                bars[holder] = after == 0 ? "└" : Exploration.Trace.bar(after)
                held[holder] = after
            }
            let now = (step.states ?? seen).enumerated().map { column, state in
                state == Exploration.Trace.locked ? seen[column] : state
            }
            defer { seen = now }
            rows.append(
                TraceRow(
                    number: String(index + 1), thread: step.thread, cell: cell(step, home: home),
                    bars: bars,
                    states: step.states
                        ?? columns.indices.map { $0 == 0 ? Exploration.Trace.locked : "" },
                    changes: columns.indices.filter { now[$0] != seen[$0] }, mark: step.mark))
        }
        if steps.isEmpty, waiting.isEmpty, let failure = findings.first?.reason {
            rows.append(TraceRow(bars: threads.map { _ in "" }, mark: failure))
        }
        for wait in waiting {
            rows.append(
                TraceRow(
                    number: "–", thread: wait.thread, cell: cell(wait, home: home),
                    bars: held.map(Exploration.Trace.bar), mark: wait.sentence(threads: threads)))
        }
        return rows
    }

    /// For each step, the number of locks that its thread holds after it, as the bars show it: if
    /// another thread attempts to take a lock right before its release, the bar extends to that
    /// attempt.
    private var locksHeldInSight: [Int] {
        var locks = steps.map(\.locksHeld)
        for (index, step) in steps.enumerated() {
            guard let holder = step.before, isLastAttempt(index, before: holder),
                let last = lastStep(of: holder, before: index)
            else { continue }
            locks[last] += 1
        }
        return locks
    }

    private func lastStep(of thread: Int, before index: Int) -> Int? {
        steps[..<index].lastIndex { $0.thread == thread }
    }

    /// Whether this is the last attempt right before the holder releases the lock.
    private func isLastAttempt(_ index: Int, before holder: Int) -> Bool {
        let next = steps[(index + 1)...].first { $0.thread == holder || $0.before == holder }
        return next?.before != holder
    }

    /// The file of most steps. The table omits its name.
    var mostFrequentFile: String? {
        Dictionary(grouping: steps.compactMap { $0.site?.file }, by: \.self)
            .max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }?.key
    }

    private static func bar(_ locks: Int) -> String {
        locks == 0 ? "" : locks == 1 ? "│" : "║"
    }

    private static func bar(before: Int, after: Int, _ step: Step) -> String {
        switch (before, after) {
        case (0, 0):
            let isLock = [.lock, .tryLock, .sharedLock, .trySharedLock].contains(step.kind)
            return isLock && !step.failed ? "╶" : ""
        case (0, _): return "┌"
        case (_, 0): return "└"
        default: return bar(after)
        }
    }

    private func cell(_ step: Step, home: String?) -> TraceCell {
        if step.kind == .note { return TraceCell(text: "» \(step.text.onOneLine)") }
        var cell = cell(step.text, at: step.site, of: step.thread, home: home)
        let queues: [Step.Kind] = [.receive, .queueUp, .sharedQueueUp]
        if queues.contains(step.kind) {
            // The line of source stands in the row before or after this one.
            cell = TraceCell(text: "(\(step.kind.phrase))", site: cell.site)
        }
        let comment = step.comment(threads: threads)
        if cell.text.isEmpty { cell.text = "(\(comment.isEmpty ? step.kind.phrase : comment))" }
        cell.owner = step.owner ?? ""
        if cell.isCode { cell.comment = comment }
        return cell
    }

    private func cell(_ wait: Waiting, home: String?) -> TraceCell {
        var cell = cell(wait.text, at: wait.site, of: wait.thread, home: home)
        cell.owner = wait.owner ?? ""
        return cell
    }

    private func cell(_ text: String, at site: Exploration.Site?, of thread: Int, home: String?)
        -> TraceCell
    {
        guard let site else { return TraceCell() }
        let file = site.file == home ? "" : site.file.replacing(".swift", with: "")
        let column = SourceText.indentation(site.line, of: site.path).map { site.column - 1 - $0 }
        let (shown, dropped) = text.onOneLine.withoutOpening(of: threads[thread])
        return TraceCell(
            text: shown, isCode: true, access: max(0, (column ?? 0) - dropped),
            site: "\(file):\(site.line)")
    }
}

extension Exploration.Trace.Step {
    fileprivate func comment(threads: [String]) -> String {
        if let old { return "old value \(old.value)" }
        let remark = remark(threads: threads)
        if !remark.isEmpty || !failed { return remark }
        return "fails"
    }

    /// What the line of source does not show, whether or not the step fails.
    package func remark(threads: [String]) -> String {
        if let old {
            let line = old.missed.map { "the store at line \($0.line)" } ?? "a newer store"
            return "reads the old value \(old.value): nothing orders \(line) before this read"
        }
        switch element {
        case .received: return "receives"
        case .awaited: return "waits for the next element"
        case nil: break
        }
        switch kind {
        case .arrive:
            let actor = actor ?? "an actor"
            return holder.map { "waits for \(actor), which '\(threads[$0])' holds" }
                ?? "arrives at \(actor)"
        case .resume: return resumes.map { "resumes '\(threads[$0])'" } ?? kind.phrase
        case .cancel: return "cancels"
        case .letGo: return kind.phrase
        default: return ""
        }
    }
}

extension String {
    /// The line without `scenario.thread("name") {`, if it begins with that and is in the column of
    /// that thread, whose title already says it; and without the closing brace. Nothing else is
    /// omitted without an ellipsis in its place.
    func withoutOpening(of thread: String) -> (text: String, dropped: Int) {
        let openings = ["thread", "task"].map { ".\($0)(\"\(thread)\") {" }
        guard let range = openings.lazy.compactMap(firstRange).first,
            self[..<range.lowerBound].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else { return (self, 0) }
        var body = self[range.upperBound...].drop { $0 == " " }
        guard body.contains(where: { $0 != "}" && $0 != " " }) else { return (self, 0) }
        let dropped = count - body.count
        let opened = body.count { $0 == "{" }
        if body.last == "}", body.count(where: { $0 == "}" }) == opened + 1 {
            body = body.dropLast()
        }
        return (String(body).trimmedAtEnd, dropped)
    }

    /// The line, cut to `width` columns so that the access stays visible. An ellipsis replaces each
    /// omitted part.
    func cut(to width: Int, around access: Int) -> String {
        if columns <= width || width < 4 { return cut(to: width) }
        if let value = withoutAssignment, value.columns < width, access >= count - value.count {
            return "…" + value
        }
        let room = 8  // for the access, which is often a name
        if prefix(access + room).columns < width { return cut(to: width) }
        let words = [beginning(ofAssignment: access), beginning(ofWord: access)].compactMap(\.self)
        // Not from there if it is too far from the access.
        let start = words.first { access - $0 <= width - room } ?? access - (width - room) / 2
        return start == 0 ? cut(to: width) : "…" + String(dropFirst(start)).cut(to: width - 1)
    }

    private func beginning(ofWord position: Int) -> Int {
        position - prefix(position).reversed().prefix { $0 != " " }.count
    }

    /// The debug information locates an assignment at its operator. The assignment begins with the
    /// word before that.
    private func beginning(ofAssignment position: Int) -> Int? {
        let sign = dropFirst(position).prefix { "+-*/%&|^<>=".contains($0) }
        guard sign.last == "=", !["==", "<=", ">="].contains(sign) else { return nil }
        let gap = prefix(position).reversed().prefix { $0 == " " }.count
        return beginning(ofWord: position - gap)
    }

    /// The assigned value, if the line begins with `let name = ` or `var name = `.
    private var withoutAssignment: String? {
        guard hasPrefix("let ") || hasPrefix("var "), let range = firstRange(of: " = ") else {
            return nil
        }
        let name = self[..<range.lowerBound].dropFirst(4)
        guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { return nil }
        return String(self[range.upperBound...])
    }
}
