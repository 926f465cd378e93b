import RaceLab
import RaceLabTesting
import Shop
import XCTest

/// Some of the same tests in XCTest.
final class ShopXCTests: XCTestCase {
    override func setUpWithError() throws {
        if let unavailable = Exploration.unavailable { throw XCTSkip(unavailable) }
    }

    func testVisits() {
        expectSurvives { scenario in
            let visits = Visits()
            scenario.thread("Ann") { visits.add() }
            scenario.thread("Bob") { visits.add() }
        }
    }

    func testTransfers() {
        expectSurvives { scenario in
            let (left, right) = (Account(10), Account(10))
            scenario.thread("there") { left.transfer(1, to: right) }
            scenario.thread("back") { right.transfer(2, to: left) }
        }
    }

    func testRepairedStock() {
        expectSurvives { scenario in
            let stock = Stock(1)
            scenario.thread("Ann") { _ = stock.takeAtOnce() }
            scenario.thread("Bob") { _ = stock.takeAtOnce() }
            scenario.check { try Scenario.require(stock.count >= 0, "more was sold than there is") }
        }
    }
}
