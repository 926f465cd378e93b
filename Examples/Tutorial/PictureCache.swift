typealias Load = @Sendable (_ number: Int) async -> String

/// Keeps the pictures that were loaded.
actor PictureCache {
    private var pictures: [Int: String] = [:]
    private(set) var requests = 0

    func picture(_ number: Int, orLoad load: Load) async -> String {
        requests += 1
        if let picture = pictures[number] { return picture }
        let picture = await load(number)
        pictures[number] = picture
        return picture
    }
}

/// Keeps the tasks that load pictures.
actor TaskCache {
    private var tasks: [Int: Task<String, Never>] = [:]
    private(set) var requests = 0

    func picture(_ number: Int, orLoad load: @escaping Load) async -> String {
        requests += 1
        if let task = tasks[number] { return await task.value }
        let task = Task { await load(number) }
        tasks[number] = task
        return await task.value
    }
}

/// Two callers ask for the same picture. The server answers when it has been asked by both or, if the
/// cache holds one of them back, when both have asked the cache.
func twoCallers() async {
    let server = Server()
    let cache = PictureCache()
    let load: Load = { await server.load($0) { await cache.requests == 2 } }
    async let first = cache.picture(7, orLoad: load)
    async let second = cache.picture(7, orLoad: load)
    _ = await (first, second)
    print("PictureCache: 2 requests, \(await server.loads) loaded")
}

func twoCallersOfTasks() async {
    let server = Server()
    let cache = TaskCache()
    let load: Load = { await server.load($0) { await cache.requests == 2 } }
    async let first = cache.picture(7, orLoad: load)
    async let second = cache.picture(7, orLoad: load)
    _ = await (first, second)
    print("TaskCache: 2 requests, \(await server.loads) loaded")
}

/// A slow server: it answers when `isReady` says so.
actor Server {
    private(set) var loads = 0

    func load(_ number: Int, _ isReady: @Sendable () async -> Bool) async -> String {
        loads += 1
        while await !isReady() { await Task.yield() }
        return "picture \(number)"
    }
}
