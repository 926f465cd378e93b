import Foundation
import Graders
import RaceLab
import SharedSuite

/// Arguments that several commands have.
extension Argument {
    static let hazard = word("ID", "the id of a hazard, such as R01")
    static let only = option(
        "--only", "IDS", "ids of hazards, such as R01,R05: nothing else is run")

    /// What a hazard runs on: a stage, or a step or a design instead.
    static let subject = Subject.Kind.allCases.map { kind in
        Argument.subject(kind, excludes: Subject.Kind.allCases.map(\.option))
    }

    /// Each command that compares takes two of them.
    static let subjects = Subject.Kind.allCases.map { Argument.subject($0, excludes: nil) }

    /// - Parameter options: the options of which only one can be used; `nil` if several can.
    private static func subject(_ kind: Subject.Kind, excludes options: [String]?) -> Argument {
        option(
            kind.option, kind == .stage ? "N" : kind == .step ? "A" : "NAME",
            choices: Subject.all(kind).map(\.word),
            isRequired: options != nil && kind == .stage,
            excludes: options.map { Array($0.prefix { $0 != kind.option }) } ?? [],
            isRepeatable: options == nil)
    }

    static func format(_ formats: [String], excludes: [String] = []) -> Argument {
        option("--format", "FORMAT", choices: formats, excludes: excludes)
    }

    static let exercise = word("N", "the number of an exercise, 1 to \(Exercise.all.count)")
    static let workbook = option(
        "--workbook", "FOLDER", "a folder of answers, instead of Exercises/Workbook")
    static let seconds = option(
        "--seconds", "N", "the limit on processor time for one interleaving (8)")
}

/// - Throws: ``Unfinished`` where nothing can be explored, as in a release build.
func checkExploring() throws {
    if let unavailable = Exploration.unavailable { throw Unfinished(unavailable) }
}

extension Race {
    /// - Throws: ``Mistake`` if the subject cannot express the race.
    func check(_ subject: Subject) throws {
        guard case .cannotExpress(let why) = expectation(on: subject) else { return }
        throw Mistake("\(subject) cannot express \(id): \(why)")
    }
}

extension Arguments {
    func hazard() throws -> any Hazard { try hazard(required(.hazard)) }

    private func hazard(_ id: String) throws -> any Hazard {
        guard let hazard = Catalogue.hazard(id) else {
            throw Mistake(
                "there is no hazard '\(id)'; promise-lab list shows all of them, from "
                    + "\(Catalogue.all[0].id) to \(Catalogue.all.last!.id)")
        }
        return hazard
    }

    /// The hazards that `--only` names; without it, all.
    func hazards() throws -> [any Hazard] {
        guard let ids = self[.only] else { return Catalogue.all }
        let wanted = try ids.split(separator: ",").map { try hazard(String($0)).id }
        guard !wanted.isEmpty else { throw Mistake("--only takes ids of hazards, such as R01,R05") }
        return Catalogue.all.filter { wanted.contains($0.id) }
    }

    /// The only one of ``subjects``, for a command that requires one.
    var subject: Subject { subjects[0] }

    /// What the options name, in the order in which they were typed.
    var subjects: [Subject] {
        compactMap { name, text in
            Subject.Kind.allCases.first { $0.option == name }.flatMap { Subject($0, text) }
        }
    }

    func exercise() throws -> Exercise {
        let word = try required(.exercise)
        guard let exercise = Int(word).flatMap(Exercise.init(number:)) else {
            throw Mistake(
                "there is no exercise '\(word)'; there are 1 to \(Exercise.all.count) "
                    + "(see promise-lab exercises)")
        }
        return exercise
    }

    /// The workbook that `--workbook` names; without it, the reader's own.
    func workbook() throws -> Workbook {
        guard let path = self[.workbook] else { return Workbook.own }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
            isFolder.boolValue
        else { throw Mistake("there is no folder '\(path)'") }
        return Workbook(URL(filePath: path))
    }
}
