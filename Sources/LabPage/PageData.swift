import Foundation
import RaceLab

/// What a page is made of, as JSON: an element for the matrix and the source files, and one for
/// each exploration, which is read when it is shown.
struct PageData {
    private let page: Page
    private var files = Interned<SourceFile>()
    private var explorations: [(id: String, data: ExplorationData)] = []

    init(_ page: Page) {
        self.page = page
        for (id, exploration) in page.explorations.sorted(by: { $0.key < $1.key }) {
            explorations.append((id, ExplorationData(exploration, &files)))
        }
    }

    private struct Frame: Encodable {
        struct File: Encodable {
            let path: String
            let lines: [String]
        }

        let title: String
        let columns: [Page.Column]
        let rows: [Page.Row]
        let files: [File]
    }

    /// The elements. Nothing in them can end them, or begin another one.
    var scripts: String {
        let frame = Frame(
            title: page.title, columns: page.columns, rows: page.rows,
            files: files.all.map { Frame.File(path: $0.shown, lines: Sources.lines(of: $0.path)) })
        return PageData.script("frame", frame)
            + explorations.map { PageData.script("race:\($0.id)", $0.data) }.joined()
    }

    private static func script(_ id: String, _ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        let json = String(decoding: data, as: UTF8.self).replacing("<", with: "\\u003c")
            .replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
        return "<script type=\"application/json\" id=\"\(id.escaped)\">\(json)</script>\n"
    }
}

/// A file, and its path within its package.
private struct SourceFile: Hashable {
    let path: String
    let shown: String
}

/// An exploration as the page reads it: numbers where it can, because there are many of them.
private struct ExplorationData: Encodable {
    struct Finding: Encodable {
        let kind: String
        let reason: String
    }

    struct Waiting: Encodable {
        let thread: Int
        let site: Int
        let text: String
        let sentence: String
        let holder: Int
        let taken: [Int]
    }

    struct Ending: Encodable {
        let findings: [Int]
        let race: Int
        let waiting: [Waiting]
    }

    let title: String
    let story: String
    let command: String?
    let coverage: RecordedExploration.Coverage
    let summary: String
    let explored: Int
    let failing: Int
    let threads: [String]
    let letters: [String]
    let columns: [String]
    let states: [[String]]
    let texts: [String]
    let names: [String]
    /// File, line, column.
    let sites: [[Int]]
    let kindNames: [String]
    /// Thread, kind, text, site, name, flags, locks held; then pairs of thread and step: how many
    /// conflicts, the conflicts, how many it comes after, those, and by whom the lock was taken.
    let labels: [[Int]]
    let findings: [Finding]
    let endings: [Ending]
    /// State, ending, then pairs of label and target; the label is negative, less one, in a step to
    /// an interleaving that is not counted.
    let nodes: [[Int]]
    let kinds: [String]

    init(_ exploration: RecordedExploration, _ files: inout Interned<SourceFile>) {
        let graph = exploration.graph
        var texts = Interned<String>()
        var names = Interned<String>()
        var kindNames = Interned<String>()
        var sites = Interned<[Int]>()
        func index(of site: Exploration.Site?) -> Int {
            guard let site else { return -1 }
            return sites.index(of: [
                files.index(of: SourceFile(path: site.path, shown: site.packagePath)), site.line,
                site.column,
            ])
        }
        title = exploration.title
        story = exploration.story
        command = exploration.command
        coverage = exploration.coverage
        summary = exploration.exploration.summary
        explored = exploration.exploration.explored
        failing = exploration.exploration.failing
        threads = graph.threads
        letters = Exploration.Schedule.letters(for: graph.threads).map(String.init)
        columns = graph.columns
        states = graph.states
        labels = graph.labels.map { label in
            let head = [
                label.thread, kindNames.index(of: label.kind.rawValue),
                texts.index(of: label.text), index(of: label.site), names.index(of: label.name),
                (label.failed ? 1 : 0) + (label.isEarly ? 2 : 0), label.locksHeld,
            ]
            let moments = { (all: [Graph.Moment]) in all.flatMap { [$0.thread, $0.step] } }
            return head + [label.conflicts.count] + moments(label.conflicts) + [label.after.count]
                + moments(label.after) + moments(label.taken)
        }
        findings = graph.findings.map { Finding(kind: $0.kind.rawValue, reason: $0.reason) }
        endings = graph.endings.map { ending in
            Ending(
                findings: ending.findings, race: ending.hasRace ? 1 : 0,
                waiting: ending.waiting.map { wait in
                    Waiting(
                        thread: wait.thread, site: index(of: wait.site), text: wait.text,
                        sentence: wait.sentence, holder: wait.holder ?? -1,
                        taken: wait.taken.map { [$0.thread, $0.step] } ?? [])
                })
        }
        nodes = graph.nodes.map { node in
            [node.state, node.ending]
                + node.edges.flatMap {
                    [$0.isCounted ? $0.label : -1 - $0.label, $0.target]
                }
        }
        kinds = exploration.kinds
        self.texts = texts.all
        self.names = names.all
        self.kindNames = kindNames.all
        self.sites = sites.all
    }
}
