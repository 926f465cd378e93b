import Dispatch
import FieldGuide
import RaceLab

extension H10: DesignHazard {
    /// Each with what its library takes if nothing is said; where that is the main queue, with a
    /// serial queue in its place.
    func run(on design: Design) -> Verdict {
        switch design {
        case .bolts: verdict { try play(Bolts.self) }
        case .promiseKit:
            verdict {
                try judge(
                    playOnQueue { queue, seen in
                        PromiseKit { seal in seal(.success(1)) }
                            .map(on: { work in queue.send(work) }) { _ in seen.append("handler") }
                    })
            }
        case .google:
            verdict {
                try judge(
                    playOnQueue { queue, seen in
                        let promise = Google.pending()
                        promise.fulfill(1)
                        promise.then(on: { work in queue.send(work) }) { _ in
                            seen.append("handler")
                        }
                    })
            }
        }
    }
}

extension DispatchQueue {
    fileprivate func send(_ work: @escaping () -> Void) {
        nonisolated(unsafe) let work = work
        async { work() }
    }
}

extension H12: DesignHazard {
    func run(on design: Design) -> Verdict { Trial.run(Trial.parts, on: .design(design)) }
}

extension C01: DesignHazard {
    func run(on design: Design) -> Verdict { run("FieldGuide", "\(design.rawValue)<Int>") }
}

extension R18: DesignHazard {
    func run(on design: Design) -> Verdict { verdict(on: .design(design)) }
}
