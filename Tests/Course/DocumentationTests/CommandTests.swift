import Foundation
import RaceLabTesting
import SharedSuite
import Testing

@testable import promise_lab

/// The command as users run it.
@Suite("promise-lab", .needsTheLabElsewhere)
struct CommandTests {
    @Test(
        "mistyped commands are explained on standard error, with status 2",
        arguments: [
            ("show R99 --stage 1", "there is no hazard 'R99'"),
            ("show R01 --stage 4", "there is no stage '4'; there are 1, 2 and 3"),
            ("show R01 --stage one", "there is no stage 'one'"),
            ("show R01", "--stage is missing"),
            ("show", "missing argument: the id of a hazard"),
            ("show R01 --stge 1", "unknown option '--stge'; there are --stage, "),
            ("--stage 1", "options follow the command: promise-lab COMMAND … --stage"),
            ("--stage 1 show R01", "options follow the command: promise-lab COMMAND … --stage"),
            ("grade --submision Handed-in --output sheet.csv", "unknown option '--submision'"),
            ("grade --submissions Sources --output nowhere/sheet.csv", "for the sheet"),
            ("replay R01 --stage 1 --schedule S", "step 2: the schedule ends after 1 step, but"),
            (
                "replay R01 --stage 1 --schedule X",
                "no thread has this letter; by now there are S (subscriber), R (resolver)"
            ),
            ("replay R01 --stage 1 --schedule Q", "by now there are S (subscriber), R (resolver)"),
            ("show R01 --stage 1 --format pdf", "there is no format 'pdf'"),
            (
                "show R01 --stage 1 --format",
                "--format takes a format: text, markdown, json or html"
            ),
            ("show H01 --stage 1 --every", "H01 has one thread only"),
            ("show --stage 1", "missing argument: the id of a hazard"),
            ("matrix --only R01,R99", "there is no hazard 'R99'"),
            ("matrix --only ,", "--only takes ids of hazards"),
            ("doctor --format html", "there is no format 'html'"),
            ("doctor heal", "unexpected argument 'heal'"),
            ("demo dance", "there is no demo 'dance'; there is http"),
            ("show R01 --stage 1 --loud", "unknown option '--loud'"),
            ("show R01 R02 --stage 1", "unexpected argument 'R02'"),
            ("--loud", "unknown option '--loud'"),
            ("dance", "unknown command 'dance'"),
            ("help dance", "unknown command 'dance'"),
            ("replay R01 --stage 1 --schedule ?", "'?' in the schedule ? is no thread"),
            ("replay R01 --stage 1 --schedule S0", "is no number of steps"),
            ("replay R01 --stage 1 --schedule SSS", "step 4: the schedule ends after 3 steps"),
            ("replay R01 --stage 1 --schedule SSSSRRRR", "step 4: it is the turn of 'subscriber'"),
            ("replay R01 --stage 1 --schedule SRRRSSS", "step 7: the schedule goes on"),
            ("replay H01 --stage 1 --schedule S", "nothing to schedule"),
            ("replay R01 --stage 1", "--schedule is missing"),
            ("replay R14 --stage 1 --schedule F", "Stage 1 cannot express R14"),
            ("aplus 2.1.2", "unexpected argument '2.1.2'"),
            ("show R01 --stage 1 --design BoltsStyle", "--stage and --design cannot be used"),
            ("replay R01 --stage=1 --design=BoltsStyle --schedule S", "cannot be used together"),
            ("exercise 3 --hint --reset", "--hint and --reset cannot be used together"),
            ("exercise 12 --reset --variant 3", "--reset and --variant cannot be used together"),
            ("exercise 12 --hint --variant=3", "--hint and --variant cannot be used together"),
            ("grade 5 --file A.swift --workbook Sources", "--workbook and --file cannot be"),
            ("grade --submissions Sources --output s.csv --file A.swift", "cannot be used"),
            ("grade --submissions Sources --workbook Sources", "cannot be used together"),
            ("grade --submissions Sources", "--output is missing"),
            ("grade 5 --output sheet.csv", "--output is useful only together with --submissions"),
            (
                "show R01 --stage 1 --output r01.html",
                "--output is useful only together with --format html"
            ),
            (
                "show R01 --stage 1 --format json --output r01.json",
                "--output is useful only together with --format html"
            ),
            ("grade 5 --afresh", "--afresh is useful only together with --submissions"),
            ("grade 5 --schedule SRRS", "--schedule is useful only together with --replay"),
            ("grade 5 --replay R01", "--schedule is missing"),
            ("grade --replay R01 --schedule S", "missing argument: the number of an exercise"),
            ("grade --file Package.swift", "missing argument: the number of an exercise"),
            ("run-part juggled --stage 1", "there is no part 'juggled'"),
            ("show R01 --stage 1 --every=yes", "--every takes no value"),
            ("show R01 --stage 1 --stage 2", "--stage can be used only once"),
            ("show R01 --stage", "--stage takes a stage: 1, 2 or 3"),
            ("bench", "missing argument: what to measure: lab"),
            ("bench everything", "there is no measurement 'everything'; there is lab"),
            ("compare R01", "missing argument: what to compare, two of Stage1Naive, "),
            ("compare Stage1Naive BoltsStyle --stage 1 R01", "takes two subjects, not 3"),
            ("compare Stage1Naive Bolt R01", "there is no 'Bolt' to compare"),
            ("grade 5 --megabytes 99999999999999999", "a number greater than 511, not"),
            ("grade 5 --megabytes 511", "--megabytes takes a number greater than 511, not '511'"),
            ("exercise 12 --variant x", "--variant takes a number greater than 0, not 'x'"),
            ("exercise --start 12 13", "unexpected argument '13' (see promise-lab help exercise)"),
        ])
    func mistakes(command: String, complaint: String) throws {
        let result = try Commands.promiseLab(command.split(separator: " ").map(String.init))
        #expect(result.status == 2)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("promise-lab: "))
        // One sentence, on as many lines of 100 columns as it needs.
        let lines = result.errors.split(separator: "\n")
        let sentence = lines.joined(separator: " ")
        #expect(sentence.contains(complaint), "it says: \(result.errors)")
        // A path is not broken.
        #expect(lines.allSatisfy { $0.count <= 100 || $0.contains("/") })
    }

    @Test(
        "help is there for each command",
        arguments: ["", "matrix", "show", "replay", "compare", "list", "aplus", "demo", "tour"])
    func help(command: String) throws {
        let words = command.isEmpty ? ["--help"] : [command, "--help"]
        let result = try Commands.promiseLab(words)
        #expect(result.status == 0)
        #expect(result.output.contains("usage: promise-lab"))
        #expect(command.isEmpty || result.output.contains(command))
    }

    @Test("the overview lists every command, and the help of each describes its arguments")
    func overview() throws {
        let complaint = try Commands.promiseLab(["dance"]).errors.replacing("\n", with: " ")
        let help = try Commands.promiseLab(["help"])
        let commands = Command.all.filter { !$0.isInternal }
        #expect(commands.count >= 15)
        for command in commands {
            #expect(complaint.contains(" \(command.name)"))
            #expect(help.lines.contains { $0.hasPrefix("  \(command.name) ") }, "\(command.name)")
            let own = try Commands.promiseLab(["help", command.name])
            #expect(
                own.status == 0 && own.output.contains("promise-lab \(command.name)")
                    || command.name == "matrix")
            for argument in command.arguments {
                let shown = argument.choices.count == 1 ? argument.choices[0] : argument.name
                #expect(own.lines.contains { $0.hasPrefix("  \(shown) ") }, "\(argument.name)")
            }
        }
        for command in Command.all where command.isInternal {
            #expect(try Commands.promiseLab(["help", command.name]).status == 2)
        }
    }

    @Test("every race can be shown on every stage, in 100 columns, with the same output each time")
    func show() throws {
        for race in ["R01", "R02", "R03", "R04", "R05", "R18"] {
            for stage in ["1", "2", "3"] {
                let first = try Commands.promiseLab(["show", race, "--stage", stage])
                #expect(first.status == 0 && first.complaints.isEmpty, "\(first.errors)")
                #expect(
                    first.output.contains("replay: promise-lab replay \(race) --stage \(stage)"))
                #expect(first.lines.allSatisfy { $0.count <= 100 })
                let second = try Commands.promiseLab(["show", race, "--stage", stage])
                #expect(first.output == second.output)
            }
        }
    }

    @Test("single rows of the matrix are the same as in the complete matrix")
    func singleRows() throws {
        let result = try Commands.promiseLab(["matrix", "--only", "h02,R05"])
        #expect(result.status == 0)
        let ids = result.lines.compactMap { $0.prefixMatch(of: #/[HRC]\d\d/#)?.0 }
        #expect(ids == ["H02", "R05"])
        #expect(result.output.contains("R05  then ∥ then ∥ resolve           ✗ "))
    }

    @Test("the schedule under a table reproduces the table")
    func replay() throws {
        let shown = try Commands.promiseLab(["show", "R01", "--stage", "1"])
        let line = try #require(shown.lines.last { $0.hasPrefix("replay: promise-lab ") })
        let words = line.dropFirst("replay: promise-lab ".count).split(separator: " ")
        let replayed = try Commands.promiseLab(words.map(String.init))
        #expect(replayed.status == 0)
        let steps = { (lines: [String]) in
            lines.filter { $0.contains(#/^ ?\d+  /#) }.map { $0.split(separator: "←")[0] }
        }
        #expect(!steps(replayed.lines).isEmpty)
        #expect(steps(shown.lines).count == steps(replayed.lines).count)
        for (one, other) in zip(steps(shown.lines), steps(replayed.lines)) {
            #expect(one.trimmedAtEnd == other.trimmedAtEnd)
        }
    }

    @Test("`--every` explores more interleavings, and shows the same one")
    func every() throws {
        let reduced = try Commands.promiseLab(["show", "R01", "--stage", "1"])
        let every = try Commands.promiseLab(["show", "R01", "--stage", "1", "--every"])
        #expect(every.status == 0 && every.complaints.isEmpty)
        let counts = { (text: String) in
            text.firstMatch(of: #/(\d+) of (\d+) interleavings fail/#).flatMap {
                match in Int(match.1).flatMap { k in Int(match.2).map { (k, $0) } }
            }
        }
        let (few, all) = (try #require(counts(reduced.output)), try #require(counts(every.output)))
        #expect(few.0 < all.0 && few.1 < all.1 && all.0 < all.1)
        #expect(reduced.lines.last == every.lines.last)
    }

    @Test("an interleaving can be written as Markdown and as JSON")
    func formats() throws {
        let words = ["R01", "--stage", "1", "--format"]
        let json = try Commands.promiseLab(["show"] + words + ["json"])
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
        let fields = try #require(object as? [String: Any])
        #expect(fields["kind"] as? String == "trace")
        let schedule = try #require(fields["schedule"] as? String)
        let markdown = try Commands.promiseLab(["show"] + words + ["markdown"])
        #expect(markdown.output.hasPrefix("|"))
        #expect(markdown.output.hasSuffix("\n\nReplay: `\(schedule)`\n"))
        let replayed = try Commands.promiseLab(
            ["replay"] + words + ["markdown", "--schedule", schedule])
        #expect(replayed.status == 0)
        #expect(replayed.output.hasPrefix("|"))
        #expect(replayed.output.hasSuffix("\n\nReplay: `\(schedule)`\n"))
    }

    @Test("Promises/A+: a row for each clause, in 100 columns, with what cannot be expressed")
    func aplus() throws {
        let result = try Commands.promiseLab(["aplus"])
        #expect(result.status == 0 && result.complaints.isEmpty)
        #expect(result.lines.allSatisfy { $0.count <= 100 })
        let rows = result.lines.prefix { $0 != "" }.dropFirst()
        let clauses = "2.1.2 2.1.3 2.2.2 2.2.3 2.2.4 2.2.6 2.2.7 2.3.1 2.3.2 2.3.4"
        #expect(rows.map { String($0.prefix(5)) } == clauses.components(separatedBy: " "))
        // Stage 3 has the last column, and passes all of its cases.
        for row in rows {
            #expect(row.contains(#/✓ (\d+)\/\1$/#), "\(row)")
        }
        let cleanStack = try #require(rows.first { $0.hasPrefix("2.2.4") })
        #expect(cleanStack.matches(of: #/✗ 0\/\d+ too early/#).count == 2)
        for clause in ["2.2.1 ", "2.2.5 ", "2.3.3 "] {
            #expect(result.lines.contains { $0.hasPrefix(clause) })
        }
        #expect(result.lines.last == "Every case is as documented.")
    }

    @Test("the tour shows, asks, runs and answers, and does not wait without a terminal")
    func tour() throws {
        let result = try Commands.promiseLab(["tour"])
        #expect(result.status == 0)
        let commands = result.lines.filter { $0.hasPrefix("$ swift run promise-lab") }
        let questions = result.lines.filter { $0.hasPrefix("? ") }
        #expect(commands.count == 5 && questions.count == 5)
        #expect(result.lines.count { $0.hasPrefix("→ ") } == 5)
        for command in commands where command.contains(" show ") || command.contains(" replay ") {
            let lines = try #require(try Commands.run(documented: String(command.dropFirst(2))))
                .lines
            #expect(result.output.contains(lines.joined(separator: "\n")), "\(command)")
        }
        #expect(result.output.contains("every verdict is as documented"))
        #expect(!result.output.contains("Press Return"))
    }

    @Test("plain text when piped")
    func colour() throws {
        let result = try Commands.promiseLab(["show", "H02", "--stage", "1"])
        #expect(!result.output.contains("\u{1B}"))
    }
}

extension Substring {
    var trimmedAtEnd: Substring {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
