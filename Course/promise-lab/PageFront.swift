import Foundation
import Graders
import LabPage

/// The front of the page: the opening, the races in an order to learn, and the matrix. Its scripts
/// are in `Course/CoursePage`.
struct PageFront: Encodable {
    /// A column of the matrix.
    struct Column: Encodable {
        /// Part of links: `stage1`.
        let id: String
        let title: String
    }

    /// A cell of the matrix. In the data it is an array: its verdict, its text, and which of the
    /// details it has.
    struct Cell: Encodable {
        enum Verdict: String, Encodable {
            case survives, fails, cannotExpress, unknown
        }

        let verdict: Verdict
        /// The text in the cell, such as `1/3 lost`.
        let text: String
        /// What happened, in a sentence; `nil` if the page has a race for this cell.
        let detail: String?

        func encode(to encoder: any Encoder) throws {
            var values = encoder.unkeyedContainer()
            try values.encode(verdict)
            try values.encode(text)
            let details = encoder.userInfo[.details] as? [String] ?? []
            if let detail { try values.encode(details.firstIndex(of: detail)) }
        }
    }

    /// A row of the matrix.
    struct Row: Encodable {
        /// Part of links: `R01`.
        let id: String
        let name: String
        /// What happens, for readers who do not know the code; `nil` for a row without races.
        let title: String?
        /// `nil` if the page has a race for every cell.
        let story: String?
        /// The part of the matrix that it belongs to.
        let group: String
        /// By the ids of the columns.
        let cells: [String: Cell]
    }

    /// Races that are not in the matrix, in columns of their own.
    let examples: [Row]
    let columnsOfExamples = PageFront.orderings
    let columns: [Column]
    let rows: [Row]
    /// The compiler with which the races were recorded.
    let toolchain: String
    /// The sentences about cells, each of them once.
    let details: [String]

    init(examples: [Row], columns: [Column], rows: [Row], toolchain: String) {
        self.examples = examples
        self.columns = columns
        self.rows = rows
        self.toolchain = toolchain
        details = Set(rows.flatMap { $0.cells.values.compactMap(\.detail) }).sorted()
    }

    /// The memory orderings in Appendix D of the Tutorial.
    static let orderings = [
        Column(id: "acquire-release", title: "releasing and acquiring"),
        Column(id: "sequential", title: "sequentially consistent"),
    ]

    private static let folder = Workbook.package.appending(path: "Course/CoursePage")

    func front() throws -> Page.Front {
        let encoder = JSONEncoder()
        encoder.userInfo[.details] = details
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let read = { (name: String) in
            try String(contentsOf: PageFront.folder.appending(path: name), encoding: .utf8)
        }
        return Page.Front(
            scripts: try ["matrix.js", "hazards.js", "scene.js", "opening.js", "front.js"].map(
                read),
            style: try read("course.css"),
            data: String(decoding: try encoder.encode(self), as: UTF8.self))
    }
}

extension CodingUserInfoKey {
    fileprivate static let details = CodingUserInfoKey(rawValue: "details")!
}
