import LabPageResources
import RaceLab

/// A page with a matrix of hazards and their explorations: one file of HTML that needs no network.
public struct Page: Sendable {
    /// A column of the matrix.
    public struct Column: Sendable, Codable {
        /// Part of links: `stage1`.
        public let id: String
        /// Its heading.
        public let title: String

        /// Creates a column.
        public init(id: String, title: String) {
            self.id = id
            self.title = title
        }
    }

    /// A cell of the matrix.
    public struct Cell: Sendable, Codable {
        /// The verdict on the hazard of the row.
        public enum Verdict: String, Sendable, Codable {
            /// No interleaving fails.
            case survives
            /// An interleaving fails.
            case fails
            /// The subject lacks an operation that the hazard needs.
            case cannotExpress
            /// There is no verdict.
            case unknown
        }

        /// The verdict, which decides the color.
        public let verdict: Verdict
        /// The text in the cell, such as `7/23 lost`.
        public let text: String
        /// What happened, in a sentence.
        public let detail: String

        /// Creates a cell.
        public init(_ verdict: Verdict, text: String, detail: String) {
            self.verdict = verdict
            self.text = text
            self.detail = detail
        }
    }

    /// A row of the matrix.
    public struct Row: Sendable, Codable {
        /// Part of links: `R01`.
        public let id: String
        /// A heading.
        public let name: String
        /// What the hazard is, in a sentence or two.
        public let story: String
        /// The part of the matrix that it belongs to.
        public let group: String
        /// By the ids of the columns.
        public let cells: [String: Cell]

        /// Creates a row.
        public init(
            id: String, name: String, story: String, group: String, cells: [String: Cell]
        ) {
            self.id = id
            self.name = name
            self.story = story
            self.group = group
            self.cells = cells
        }
    }

    /// The heading of the page.
    public let title: String
    /// The columns of the matrix, from left to right.
    public let columns: [Column]
    /// The rows of the matrix, from top to bottom.
    public let rows: [Row]
    /// By the ids of row and column: `R01/stage1`.
    public let explorations: [String: RecordedExploration]

    /// Creates a page; without columns and rows it shows its explorations only.
    public init(
        title: String, columns: [Column] = [], rows: [Row] = [],
        explorations: [String: RecordedExploration]
    ) {
        self.title = title
        self.columns = columns
        self.rows = rows
        self.explorations = explorations
    }

    /// The page as one file that needs no network.
    public var html: String {
        let data = PageData(self)
        let parts = [
            "TITLE": title.escaped,
            "STYLE": Compact.text(of: String(cString: page_css), .style),
            "SCRIPT": scripts,
            "DATA": data.scripts,
        ]
        var html = ""
        var rest = Substring(String(cString: page_html))
        // Inserted text is not searched again, because a state may contain {{DATA}}.
        while let start = rest.firstRange(of: "{{"),
            let end = rest[start.upperBound...].firstRange(of: "}}")
        {
            html += rest[..<start.lowerBound]
            html += parts[String(rest[start.upperBound..<end.lowerBound])] ?? ""
            rest = rest[end.upperBound...]
        }
        return html + rest
    }

    /// A page without a matrix omits the scripts that draw the matrix and its pictures.
    private var scripts: String {
        let ofMatrix = [matrix_js, pictures_js]
        let resources =
            [model_js, drawing_js, map_js, race_js] + (rows.isEmpty ? [] : ofMatrix) + [page_js]
        return Compact.text(
            of: resources.map { String(cString: $0) }.joined(separator: "\n"), .script)
    }
}

extension String {
    /// The text as HTML.
    var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
