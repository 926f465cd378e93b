import RaceLab

typealias Load = @Sendable (_ number: Int) async -> String

/// Keeps the pictures that were loaded.
actor PictureCache {
    private var pictures: [Int: String] = [:]

    func picture(_ number: Int, orLoad load: Load) async -> String {
        if let picture = pictures[number] { return picture }
        let picture = await load(number)
        pictures[number] = picture
        return picture
    }
}

/// Keeps the tasks that load pictures.
actor TaskCache {
    private var tasks: [Int: Task<String, Never>] = [:]

    func picture(_ number: Int, orLoad load: @escaping Load) async -> String {
        if let task = tasks[number] { return await task.value }
        let task = Task { await load(number) }
        tasks[number] = task
        return await task.value
    }
}

func pictureCache(_ scenario: Scenario) {
    let cache = PictureCache()
    twoTasks(scenario) { await cache.picture(7, orLoad: $0) }
}

func taskCache(_ scenario: Scenario) {
    let cache = TaskCache()
    twoTasks(scenario) { await cache.picture(7, orLoad: $0) }
}

/// Two tasks ask for the same picture, which must be loaded once.
private func twoTasks(
    _ scenario: Scenario, ask: @escaping @Sendable (@escaping Load) async -> String
) {
    let loads = Scenario.Log<Int>()
    let load: Load = { number in
        loads.append(number, "loads picture \(number)")
        return "picture \(number)"
    }
    scenario.task("first") { _ = await ask(load) }
    scenario.task("second") { _ = await ask(load) }
    scenario.check { try Scenario.require(loads.entries == [7], "the picture is loaded twice") }
}
