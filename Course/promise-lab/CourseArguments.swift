import Foundation
import Graders
import RaceLab
import SharedSuite

/// Arguments that several commands have.
extension Argument {
    static let hazard = Argument(
        name: "ID", about: "the id of a hazard, such as R01", isRequired: true)
    static let only = Argument(
        name: "--only", value: "IDS",
        about: "ids of hazards, such as R01,R05: nothing else is run")

    /// Each command that compares takes two of them.
    static let subjects = Subject.Kind.allCases.map { kind in
        Argument(
            name: kind.option, value: kind == .stage ? "N" : kind == .step ? "A" : "NAME",
            choices: Subject.all(kind).map(\.word), isRepeatable: true)
    }

    /// What a hazard runs on: a stage, or a step or a design instead.
    static let subject = subjects.enumerated().map { index, option in
        var option = option
        option.isRequired = index == 0
        option.excludes = subjects.prefix(index).map(\.name)
        option.isRepeatable = false
        return option
    }

    static let exercise = Argument(
        name: "N", about: "the number of an exercise, 1 to \(Exercise.all.count)", isRequired: true)
    static let workbook = Argument(
        name: "--workbook", value: "FOLDER",
        about: "a folder of answers, instead of Exercises/Workbook")
    static let seconds = Argument(
        name: "--seconds", value: "N",
        about: "the limit on processor time for one interleaving (8)")
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
        if let hazard = Catalogue.hazard(id) { return hazard }
        throw Mistake(
            "there is no hazard '\(id)'; promise-lab list shows all of them, from "
                + "\(Catalogue.all[0].id) to \(Catalogue.all.last!.id)")
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
        values.compactMap { argument, word in
            Subject.all.first { $0.kind.option == argument.name && $0.word == word }
        }
    }

    func exercise() throws -> Exercise {
        let word = try required(.exercise)
        if let exercise = Int(word).flatMap(Exercise.init(number:)) { return exercise }
        throw Mistake(
            "there is no exercise '\(word)'; there are 1 to \(Exercise.all.count) "
                + "(see promise-lab exercises)")
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
