import ChatCore
import Foundation
import Testing

@Suite struct SignInServerTests {
    @Test(arguments: [
        ("https://matrix.example.org", "matrix.example.org"), ("http://127.0.0.1:8008/", "127.0.0.1:8008"),
        ("https://example.org/matrix", "example.org"),
    ])
    func isCalledByItsHost(_ url: String, _ name: String) throws {
        let server = SignInServer(url: try #require(URL(string: url)), supportsPassword: true, hasWebPage: false)
        #expect(server.name == name)
    }
}
