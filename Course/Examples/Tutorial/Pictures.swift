func logIn() async throws -> String { "ada" }
func loadProfile(_ user: String) async throws -> Int { user.count }
func loadPicture(_ number: Int) async throws -> String { "picture \(number)" }

@MainActor
func showPicture(_ show: (String) -> Void, _ fail: (any Error) -> Void) async {
    do {
        let user = try await logIn()
        let number = try await loadProfile(user)
        show(try await loadPicture(number))
    } catch {
        fail(error)
    }
}
