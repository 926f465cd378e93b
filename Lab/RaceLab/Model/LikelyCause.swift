import CRaceLab

/// Searches the source around the steps for the likely cause of a nondeterministic scenario.
struct LikelyCause {
    private let sites: [Exploration.Site]

    /// - Parameter places: return addresses; those closest to where the runs diverged come last.
    init(_ places: [UInt]) {
        let known = Symbols.sites(of: places)
        sites = places.reversed().compactMap { known[$0] }.filter(\.isOfProgram)
    }

    /// The reason that there is no verdict, with the likely place if one was found.
    var inconclusive: Exploration.Inconclusive {
        for site in sites {
            // A value used in a line is often declared or computed just above, in the same
            // function.
            for line in [site.line] + (max(1, site.line - 12)...(site.line + 4)) {
                if let found = found(line, site.path, anyLazyVariable: line == site.line) {
                    return found
                }
            }
        }
        return lazyVariable ?? .notDeterministic
    }

    private func found(_ line: Int, _ path: String, anyLazyVariable: Bool) -> Exploration
        .Inconclusive?
    {
        guard let text = SourceText.line(line, of: path), !text.hasPrefix("//") else { return nil }
        for (words, reason) in LikelyCause.reasons
        where words.contains(where: { LikelyCause.contains(text, $0) }) {
            return inconclusive(line, path, text, reason)
        }
        let isLazy = anyLazyVariable && text.contains("lazy var ")
        return isLazy ? inconclusive(line, path, text, LikelyCause.lazy) : nil
    }

    /// Whether code contains this text where no other word continues it: `.childProcess(` does not
    /// contain `Process(`.
    private static func contains(_ code: String, _ text: String) -> Bool {
        code.ranges(of: text).contains { range in
            let before = code[..<range.lowerBound].last
            // Random numbers of the standard library are the same in every run.
            let rest = code[range.upperBound...]
            if text == "random(", rest.hasPrefix("in:") || rest.hasPrefix(")") { return false }
            let isWord = before.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
            return !isWord || text.first?.isLetter == false
        }
    }

    /// The declaration of a lazy variable that one of the steps uses.
    private var lazyVariable: Exploration.Inconclusive? {
        let texts = sites.compactMap { SourceText.line($0.line, of: $0.path) }
        for path in Set(sites.map(\.path)).sorted() {
            var line = 1
            while let text = SourceText.line(line, of: path) {
                if let name = text.firstMatch(of: /lazy var (\w+)/)?.1,
                    texts.contains(where: {
                        $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains(name)
                    })
                {
                    return inconclusive(line, path, text, LikelyCause.lazy)
                }
                line += 1
            }
        }
        return nil
    }

    private func inconclusive(
        _ line: Int, _ path: String, _ text: String, _ reason: String
    ) -> Exploration.Inconclusive {
        let site = Exploration.Site(path: path, line: line, column: 0, function: "")
        return .notDeterministicBecauseOf(
            place: Exploration.Site.name(site), text: text, reason: reason)
    }

    private static let lazy =
        "two threads that read it first at the same time can each create one of their own; create it "
        + "in the initializer"

    private static let reasons: [(words: [String], reason: String)] = [
        (
            ["ObjectIdentifier(", "Unmanaged.", "unsafeBitCast(", "UnsafeRawPointer("],
            "an address is another one in each run; choose by a number of your own"
        ),
        (["random(", "getrusage(", "times("], "it depends on time or chance"),
        (
            ["OperationQueue", "Timer.", "makeTimerSource", "Process("],
            "work that is sent there is not seen by the lab"
        ),
    ]
}

/// A change, in the first run, of memory that is older than the run: later runs begin differently.
struct OlderChange {
    let place: UInt
    /// Then it may be a counter, or the end of an object of an earlier exploration.
    let isOfSetUp: Bool

    /// Whether this change is why there is no verdict, or why there must not be one.
    ///
    /// - Parameter isWarm: whether the first run did something that the same run did not do later.
    func explains(
        _ inconclusive: Exploration.Inconclusive?, isWarm: @autoclosure () -> Bool
    ) -> Bool {
        switch inconclusive {
        case nil: !isOfSetUp && isWarm()
        case .notDeterministic: true
        // A guess from words in the source.
        case .notDeterministicBecauseOf: !isOfSetUp
        default: false
        }
    }

    var inconclusive: Exploration.Inconclusive {
        guard let site = Symbols.sites(of: [place])[place] else { return .notDeterministic }
        return .notDeterministicBecauseOf(
            place: Exploration.Site.name(site),
            text: SourceText.line(site.line, of: site.path) ?? "",
            reason: "it changes state that is older than the run, so the runs begin with different "
                + "states; create it within the scenario")
    }
}
