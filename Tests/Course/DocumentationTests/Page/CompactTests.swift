import Testing

@testable import LabPage

/// Removes comments and spaces that only readers need from scripts and style sheets.
@Suite(.needsTheLab) struct CompactTests {
    @Test(arguments: [
        ("const a = 1; // a remark\n\n  // another\n  return a + b;", "const a=1;\nreturn a+b;"),
        ("/* a\n remark */ let x = { y : 1 }", "let x={y:1}"),
        ("a - -b; a + +b; a ++ + b", "a- -b;a+ +b;a++ +b"),
        ("new Map; x instanceof Map", "new Map;x instanceof Map"),
        ("let ä = typeof ö", "let ä=typeof ö"),
    ])
    func `spaces and comments go where nothing depends on them`(script: String, expected: String) {
        #expect(Compact.text(of: script, .script) == expected)
    }

    @Test(arguments: [
        #""a  // b""#, #"'it\'s  "so" '"#, "`two  lines\n  // of { text`", "`a ${ b }  c`",
        "`a  ${f({x:`  ${y}  `})}  b`", #"/[/ "]  \/ '/.test(x)"#, #"f(/ +`/)"#, #"return/ */u"#,
    ])
    func `strings, templates and regular expressions stay as they are`(text: String) {
        let expected = text == "`a ${ b }  c`" ? "`a ${b}  c`" : text
        #expect(Compact.text(of: text, .script) == expected)
        #expect(Compact.text(of: "x = \(text) ; y", .script) == "x=\(expected);y")
    }

    @Test func `a division is no regular expression`() {
        #expect(Compact.text(of: "(a) / b / c ; [d] / 2 ; e / 3", .script) == "(a)/b/c;[d]/2;e/3")
    }

    @Test func `a style sheet keeps the spaces that its rules need`() {
        let style = """
            /* of a lane */
            .lane .go, .lane > .early { margin: 0 1rem; font: 1px "Segoe  UI", sans-serif; }
            @media (min-width: 900px) and (max-width: 1499px) { #map :hover { width: calc(1px + 2%); } }
            """
        #expect(
            Compact.text(of: style, .style) == """
                .lane .go,.lane > .early{margin:0 1rem;font:1px "Segoe  UI",sans-serif;}
                @media (min-width:900px) and (max-width:1499px){#map :hover{width:calc(1px + 2%);}}
                """)
    }
}
