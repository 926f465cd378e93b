import LabPageResources
import RaceLab

/// A page with explorations: one file of HTML that needs no network.
public struct Page: Sendable {
    /// The part of a page with several explorations that leads to them.
    public struct Front: Sendable {
        /// Scripts that define a class `Front`, see `page.js`.
        public let scripts: [String]
        /// A style sheet.
        public let style: String
        /// Data for the class, in JSON.
        public let data: String

        /// Creates a front from its files and its data.
        public init(scripts: [String], style: String, data: String) {
            self.scripts = scripts
            self.style = style
            self.data = data
        }
    }

    /// The heading of the page.
    public let title: String
    /// `nil` for a page with one exploration.
    public let front: Front?
    /// The explorations by their ids, which are parts of links: `R01/stage1`. A page without a
    /// front has one, with an empty id.
    public let explorations: [String: RecordedExploration]

    /// Creates a page with a front.
    public init(title: String, front: Front, explorations: [String: RecordedExploration]) {
        self.title = title
        self.front = front
        self.explorations = explorations
    }

    /// Creates a page with one exploration.
    public init(_ exploration: RecordedExploration) {
        title = exploration.title
        front = nil
        explorations = ["": exploration]
    }

    /// The page as one file that needs no network.
    public var html: String {
        let data = PageData(self)
        let parts = [
            "TITLE": title.escaped,
            "STYLE": Compact.text(
                of: String(cString: page_css) + (front.map { "\n" + $0.style } ?? ""), .style),
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

    private var scripts: String {
        let ofRaces = [
            drawing_js, words_js, model_js, path_js, map_js, table_js, race_js, view_js,
        ]
        let all =
            ofRaces.map { String(cString: $0) } + (front?.scripts ?? []) + [
                String(cString: page_js)
            ]
        return Compact.text(of: all.joined(separator: "\n"), .script)
    }
}

extension String {
    /// The text as HTML.
    var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
