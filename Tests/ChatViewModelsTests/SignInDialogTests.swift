import ChatCore
import Foundation
import Testing

@testable import ChatViewModels

/// The steps of the sign-in dialog.
@MainActor struct SignInDialogTests {
    private typealias State = SignInViewModel.State
    private static let ann = Account(
        id: "@ann:example.org", kind: "matrix", server: "https://example.org", device: "D", name: "Ann")

    private static func server(supportsPassword: Bool = true, hasWebPage: Bool = false) -> SignInServer {
        SignInServer(
            url: URL(string: "https://example.org")!, supportsPassword: supportsPassword, hasWebPage: hasWebPage)
    }

    private static func state(_ steps: SignInViewModel.Step..., again: Account? = nil) -> State {
        var state = State()
        state.again = again
        for step in steps { state.step = step }
        return state
    }

    private let text = SignInText(
        Wording(translator: .untranslated, byteCount: { "\($0)" }, fullDate: { _ in "a date" }))

    @Test("Each step belongs to a page, and storing the credential to the page where it began")
    func pages() {
        let server = Self.server()
        let pages: [(SignInViewModel.Step, State.Page, isBusy: Bool)] = [
            (.server, .server, false), (.finding, .server, true), (.credentials(server), .credentials, false),
            (.signingIn(server), .credentials, true), (.storing(nil), .credentials, true),
            (.credentialError(.locked), .keyring, false), (.storing(.locked), .keyring, true),
            (.starting, .starting, false), (.done, .starting, false),
        ]
        for (step, page, showsSpinner) in pages {
            #expect(Self.state(step).page == page, "\(step)")
            #expect(Self.state(step).showsSpinner == showsSpinner, "\(step)")
        }
    }

    @Test("The text about the server stays while the credential is stored")
    func serverStays() {
        let server = Self.server(supportsPassword: false, hasWebPage: true)
        let asking = Self.state(.credentials(server))
        let storing = Self.state(.credentials(server), .signingIn(server), .storing(nil))
        #expect(text.explanation(asking).hasPrefix("This server requires"))
        #expect(text.explanation(storing) == text.explanation(asking))
        #expect(text.title(storing) == "Sign In" && text.title(asking) == "Sign In")
        #expect(!asking.canChangeWay && !storing.canChangeWay)
        #expect(Self.state(.credentials(Self.server()), .storing(nil)).canChangeWay)
    }

    @Test("Each page explains what to enter")
    func texts() {
        #expect(text.title(Self.state(.finding)) == "Sign In to Matrix")
        #expect(text.explanation(Self.state(.server)) == "Enter your homeserver or Matrix ID.")
        #expect(text.explanation(Self.state(.credentials(Self.server()))) == "Your account on example.org")
        #expect(text.title(Self.state(.credentialError(.locked))) == "Keyring Locked")
        #expect(text.title(Self.state(.storing(.locked))) == "Keyring Locked")
        #expect(text.explanation(Self.state(.storing(.locked))) == text.text(for: CredentialStoreError.locked))
        #expect(text.title(Self.state(.starting)) == "Loading Rooms…")
        #expect(text.explanation(Self.state(.done)).hasPrefix("Rooms appear"))
    }

    @Test("Signing in again names the account and does not ask for the user name")
    func again() {
        let finding = Self.state(.finding, again: Self.ann)
        #expect(text.windowTitle(finding) == "Sign In Again" && text.windowTitle(Self.state(.finding)) == "Add Account")
        #expect(text.title(finding) == "Sign In Again" && text.explanation(finding) == "@ann:example.org")
        #expect(text.title(Self.state(.credentials(Self.server()), again: Self.ann)) == "Ann")
        #expect(!finding.asksForName && Self.state(.server).asksForName)
    }

    @Test("A page focuses the first missing input, and a busy one keeps the focus")
    func focus() {
        let server = Self.server()
        let asking = Self.state(.credentials(server))
        #expect(Self.state(.server).focus(after: nil, isNameEmpty: true) == .address)
        #expect(asking.focus(after: Self.state(.finding), isNameEmpty: true) == .name)
        #expect(asking.focus(after: Self.state(.signingIn(server)), isNameEmpty: false) == .password)
        #expect(Self.state(.credentialError(.locked)).focus(after: asking, isNameEmpty: false) == .retryKeyring)
        for step in [SignInViewModel.Step.finding, .signingIn(server), .storing(nil), .starting, .done] {
            #expect(Self.state(step).focus(after: Self.state(.server), isNameEmpty: true) == nil, "\(step)")
        }
    }

    @Test("Changing between password and access token focuses the first field")
    func focusOfTheOtherWay() {
        let withPassword = Self.state(.credentials(Self.server()))
        var withToken = withPassword
        withToken.usesToken = true
        #expect(withToken.focus(after: withPassword, isNameEmpty: false) == .token)
        #expect(withPassword.focus(after: withToken, isNameEmpty: false) == .name)
        #expect(withToken.focus(after: withToken, isNameEmpty: false) == nil)
        #expect(withToken.focus(after: Self.state(.finding), isNameEmpty: true) == .token)
        #expect(text.otherWay(withToken) == "Use Password" && text.otherWay(withPassword) == "Use Access Token")
    }
}
