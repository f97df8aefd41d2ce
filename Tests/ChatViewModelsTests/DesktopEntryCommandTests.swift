import Testing

@testable import ChatViewModels

struct DesktopEntryCommandTests {
    @Test(arguments: [
        ("/usr/bin/parlance", "/usr/bin/parlance"),
        ("/opt/my apps/parlance", "\"/opt/my apps/parlance\""),
        ("/opt/100%/parlance", "\"/opt/100%%/parlance\""),
        (#"/opt/a"b/parlance"#, #""/opt/a\\"b/parlance""#),
        ("/opt/$HOME/`x`", #""/opt/\\$HOME/\\`x\\`""#),
        (#"/opt/a\b"#, #""/opt/a\\\\b""#),
        ("/opt/ü/parlance", "\"/opt/ü/parlance\""),
        ("", "\"\""),
    ])
    func programIsQuotedWhereItNeedsToBe(_ program: String, _ exec: String) {
        #expect(DesktopEntryCommand(program).exec == exec)
    }

    @Test func argumentsFollow() {
        #expect(
            DesktopEntryCommand("/a b/parlance", ["--gapplication-service"]).exec
                == "\"/a b/parlance\" --gapplication-service")
    }
}
