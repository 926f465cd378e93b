import Foundation
import RaceLab
import RaceLabTesting
import Shop
import Testing

@Suite(.needsTheLab)
struct ShopTests {
    @Test("two customers, one piece")
    func stock() {
        expectSurvives { scenario in
            let stock = Stock(1)
            scenario.thread("Ann") { _ = stock.take() }
            scenario.thread("Bob") { _ = stock.take() }
            scenario.check { try Scenario.require(stock.count >= 0, "more was sold than there is") }
            scenario.state("pieces") { "\(stock.count)" }
        }
    }

    @Test("two visitors")
    func visits() {
        expectSurvives { scenario in
            let visits = Visits()
            scenario.thread("Ann") { visits.add() }
            scenario.thread("Bob") { visits.add() }
        }
    }

    @Test("two transfers")
    func transfers() {
        expectSurvives { scenario in
            let (left, right) = (Account(10), Account(10))
            scenario.thread("there") { left.transfer(1, to: right) }
            scenario.thread("back") { right.transfer(2, to: left) }
        }
    }

    @Test("one letter")
    func mailbox() {
        expectSurvives { scenario in
            let mailbox = Mailbox()
            scenario.thread("sends") { mailbox.post("hello") }
            scenario.thread("receives") { _ = mailbox.receive() }
        }
    }

    @Test("one offer")
    func offer() {
        expectSurvives { scenario in
            let offer = Offer()
            scenario.thread("publishes") { offer.publish("two for one") }
            scenario.thread("reads") { _ = offer.current }
        }
    }

    @Test("a listener that listens again")
    @MainActor func bell() {
        expectSurvives { @Sendable scenario in
            let bell = Bell()
            scenario.thread("rings") {
                bell.onRing { bell.onRing {} }
                bell.ring()
            }
        }
    }

    @Test("two customers, one piece, one lock")
    func repairedStock() {
        expectSurvives { scenario in
            let stock = Stock(1)
            scenario.thread("Ann") { _ = stock.takeAtOnce() }
            scenario.thread("Bob") { _ = stock.takeAtOnce() }
            scenario.check { try Scenario.require(stock.count >= 0, "more was sold than there is") }
        }
    }

    @Test("a thread that the test has started")
    func ownThread() {
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            expectSurvives { scenario in
                let visits = Visits()
                scenario.thread("Ann") { visits.add() }
                scenario.thread("Bob") { visits.add() }
            }
            hasEnded.signal()
        }
        hasEnded.wait()
    }
}
