import Foundation
import RaceLab

/// The data of a page, as elements with JSON: one for the source files, one for the front, and one
/// for each exploration, which the page parses when it shows it.
struct PageData {
    private let page: Page
    private var files = Interned<SourceFile>()
    private var stories = Interned<String>()
    private var explorations: [(id: String, data: ExplorationData)] = []

    init(_ page: Page) {
        self.page = page
        for (id, exploration) in page.explorations.sorted(by: { $0.key < $1.key }) {
            explorations.append((id, ExplorationData(exploration, &files, &stories)))
        }
    }

    private struct Frame: Encodable {
        struct File: Encodable {
            let path: String
            let passages: [Passage]
        }

        struct Passage: Encodable {
            let first: Int
            let lines: [String]
        }

        let title: String
        let stories: [String]
        let files: [File]
    }

    /// The elements. Their content is escaped so that it can neither end an element nor begin one.
    var scripts: String {
        let frame = Frame(
            title: page.title, stories: stories.all, files: files.all.indices.map(file))
        return PageData.script("frame", frame)
            + (page.front.map { PageData.script("front", json: $0.data) } ?? "")
            + explorations.map { PageData.script("race:\($0.id)", $0.data) }.joined()
    }

    /// The passages of a file that the explorations show.
    private func file(_ index: Int) -> Frame.File {
        let lines = Sources.lines(of: files.all[index].path)
        let shown = explorations.reduce(into: IndexSet()) { $0.formUnion($1.data.lines(of: index)) }
        return Frame.File(
            path: files.all[index].shown,
            passages: shown.rangeView.map { range in
                Frame.Passage(
                    first: range.lowerBound,
                    lines: Array(lines[range.lowerBound - 1..<range.upperBound - 1]))
            })
    }

    private static func script(_ id: String, _ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        return script(id, json: String(decoding: data, as: UTF8.self))
    }

    private static func script(_ id: String, json: String) -> String {
        // By scalar: a search by character is slow in a long text.
        var escaped = ""
        for scalar in json.unicodeScalars {
            switch scalar {
            case "<": escaped += "\\u003c"
            case "\u{2028}": escaped += "\\u2028"
            case "\u{2029}": escaped += "\\u2029"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "<script type=\"application/json\" id=\"\(id.escaped)\">\(escaped)</script>\n"
    }
}

/// A file, and its path within its package.
private struct SourceFile: Hashable {
    let path: String
    let shown: String
}

/// An exploration in the format of the page: indices where possible, because there are many values.
private struct ExplorationData: Encodable {
    struct Finding: Encodable {
        let kind: String
        let reason: String
    }

    struct Waiting: Encodable {
        let thread: Int
        let site: Int
        let text: String
        let owner: String
        let sentence: String
        let queue: String?
        let holder: Int
        let taken: [Int]
    }

    struct Ending: Encodable {
        let findings: [Int]
        let race: Int
        let waiting: [Waiting]
    }

    let title: String
    /// An index into the stories of the page.
    let story: Int
    let command: String?
    let coverage: RecordedExploration.Coverage
    let explored: Int
    let failing: Int
    let threads: [String]
    let letters: [String]
    let columns: [String]
    /// The titles of the columns, each with the instance that it shows.
    let titles: [String]
    /// The instances that have names, a line for each class.
    let owners: [Exploration.Trace.Owners]
    let states: [[String]]
    let texts: [String]
    let names: [String]
    /// For each remark, the name of an instance, and what the line of source does not show: in
    /// words; which steps precede it; and which value of an atomic variable it reads, with a tilde
    /// if that is old. The last two are left out where there is nothing to say.
    let remarks: [[String]]
    /// File, line, column.
    let sites: [[Int]]
    let kindNames: [String]
    /// Kind, text, site, name. The text -1 is that of the line of the site.
    let actions: [[Int]]
    /// Thread, action, whether it failed plus twice the mark plus eight times the remark, locks
    /// held; then pairs of thread and step: the number of conflicts, the conflicts, the number of
    /// steps that happen before it, those steps, and the steps that took the lock. All of the pairs
    /// are left out if there are none.
    let labels: [[Int]]
    let findings: [Finding]
    let endings: [Ending]
    /// Separated by semicolons. Each node has a state, then either the ending or pairs of label and
    /// target, as numbers to base 36, which are shorter. The target is the distance back from this
    /// node. Left out are a state that is that of the node before, and a distance of 1.
    let nodes: String
    /// The passages of source shown: a file, then pairs of first and last line. The file with the
    /// most steps comes first.
    let source: [[Int]]

    init(
        _ exploration: RecordedExploration, _ files: inout Interned<SourceFile>,
        _ stories: inout Interned<String>
    ) {
        let graph = exploration.graph
        var texts = Interned<String>()
        var names = Interned<String>()
        var remarks = Interned<[String]>()
        var kindNames = Interned<String>()
        var actions = Interned<[Int]>()
        var sites = Interned<[Int]>()
        func index(of site: Exploration.Site?) -> Int {
            guard let site else { return -1 }
            return sites.index(of: [
                files.index(of: SourceFile(path: site.path, shown: site.packagePath)), site.line,
                site.column,
            ])
        }
        let instances = InstanceNames(
            graph.labels.compactMap(\.instance)
                + graph.endings.flatMap(\.waiting).compactMap(\.instance),
            madeInSetUp: graph.madeInSetUp, threads: exploration.exploration.threads)
        func owner(_ instance: Exploration.Trace.Instance?) -> String {
            instance.flatMap { instances[$0] } ?? ""
        }
        title = exploration.title
        story = stories.index(of: exploration.story)
        command = exploration.command
        coverage = exploration.coverage
        explored = exploration.exploration.explored
        failing = exploration.exploration.failing
        threads = graph.threads
        letters = Exploration.Schedule.letters(for: graph.threads).map(String.init)
        columns = graph.columns
        titles = Exploration.Trace.titles(
            of: graph.columns, owners: graph.columnInstances.map { instances.only(of: $0) })
        owners = instances.owners
        states = graph.states
        labels = graph.labels.map { label in
            let hidden = label.hidden.map { "\($0.thread).\($0.step)" }.joined(separator: " ")
            let reads = label.reads.map { label.isOld ? "~\($0)" : "\($0)" }
            let remark = remarks.index(
                of: [owner(label.instance), label.remark]
                    + (reads.map { [hidden, $0] } ?? (hidden.isEmpty ? [] : [hidden])))
            let line = label.site.flatMap { Sources.line($0.line, of: $0.path) }
            let isLine = line?.trimmingCharacters(in: .whitespaces) == label.text
            let action = actions.index(of: [
                kindNames.index(of: label.kind.rawValue),
                isLine ? -1 : texts.index(of: label.text), index(of: label.site),
                names.index(of: label.name),
            ])
            let head = [
                label.thread, action,
                (label.failed ? 1 : 0) + 2 * label.mark.rawValue + 8 * remark, label.locksHeld,
            ]
            let moments = { (all: [Graph.Moment]) in all.flatMap { [$0.thread, $0.step] } }
            let others =
                [label.conflicts.count] + moments(label.conflicts) + [label.after.count]
                + moments(label.after) + moments(label.taken)
            let isEmpty = label.conflicts.isEmpty && label.after.isEmpty && label.taken.isEmpty
            return isEmpty ? head : head + others
        }
        findings = graph.findings.map { Finding(kind: $0.kind.rawValue, reason: $0.reason) }
        endings = graph.endings.map { ending in
            Ending(
                findings: ending.findings, race: ending.hasRace ? 1 : 0,
                waiting: ending.waiting.map { wait in
                    Waiting(
                        thread: wait.thread, site: index(of: wait.site), text: wait.text,
                        owner: owner(wait.instance), sentence: wait.sentence,
                        queue: wait.queue, holder: wait.holder ?? -1,
                        taken: wait.taken.map { [$0.thread, $0.step] } ?? [])
                })
        }
        let short = { (number: Int) in String(number, radix: 36) }
        var lastState: Int?
        nodes = graph.nodes.enumerated().map { index, node in
            let state = node.state == lastState ? "" : short(node.state)
            lastState = node.state
            let edges = node.edges.flatMap { edge in
                let distance = index - edge.target
                return [short(edge.label), distance == 1 ? "" : short(distance)]
            }
            let ending = node.ending < 0 ? [] : [short(node.ending)]
            return ([state] + ending + edges).joined(separator: ",")
        }.joined(separator: ";")
        source = ExplorationData.source(of: graph, files)
        self.texts = texts.all
        self.names = names.all
        self.remarks = remarks.all
        self.kindNames = kindNames.all
        self.actions = actions.all
        self.sites = sites.all
    }

    /// The declarations that contain steps.
    private static func source(of graph: Graph, _ files: Interned<SourceFile>) -> [[Int]] {
        let sites =
            graph.labels.compactMap(\.site)
            + graph.endings.flatMap { $0.waiting.compactMap(\.site) }
        let byPath = Dictionary(grouping: sites, by: \.path)
        return files.all.enumerated().compactMap { index, file in
            byPath[file.path].map { (index, $0) }
        }.sorted { $0.1.count > $1.1.count }.map { index, sites in
            let shown = sites.reduce(into: IndexSet()) { shown, site in
                let lines = Sources.declaration(around: site.line, of: site.path)
                if let lines { shown.insert(integersIn: lines) }
            }
            return [index] + shown.rangeView.flatMap { [$0.lowerBound, $0.upperBound - 1] }
        }
    }

    func lines(of file: Int) -> IndexSet {
        let bounds = (source.first { $0[0] == file } ?? []).dropFirst()
        return stride(from: bounds.startIndex, to: bounds.endIndex, by: 2).reduce(into: IndexSet())
        {
            $0.insert(integersIn: bounds[$1]...bounds[$1 + 1])
        }
    }
}
