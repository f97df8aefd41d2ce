import ChatCore
import ChatTestSupport
import ComposerSessions
import Testing

@testable import ChatViewModels

/// Which previews are requested, and the texts of their cards.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LinkPreviewsTests {
    /// Responds once `gate` opens: with a preview of pages about roses, an error for another, and no preview for the
    /// rest.
    @MainActor
    private final class Pages: RoomCapabilityService {
        nonisolated let capabilities: BackendCapabilities
        let gate = Gate()
        let requested = Recorder<String>()
        var isReachable = true

        init(_ capabilities: BackendCapabilities = [.linkPreviews]) {
            self.capabilities = capabilities
        }

        func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview? {
            await requested.record(address)
            await gate.pass()
            let isReachable = await isReachable
            if !isReachable || address == "https://a.example/broken" { throw ChatError.unreachable }
            return address.hasSuffix("/roses") ? LinkPreviewsTests.roses : nil
        }
    }

    private nonisolated static let roses = LinkPreview(title: "Roses", summary: "", site: "", picture: nil)

    @Test("A preview is requested once, even if there is none or the request fails")
    func requests() async throws {
        let pages = Pages()
        let previews = try #require(
            LinkPreviews(room: RoomID("r"), service: pages, time: Timekeeper(ManualClock())))
        let addresses = ["roses", "nothing", "broken"].map { "https://a.example/\($0)" }
        for address in addresses + addresses { previews.request(address) }
        #expect(addresses.allSatisfy { previews.cachedPreview(of: $0) == nil })
        pages.gate.open()
        await eventually { addresses.allSatisfy { previews.cachedPreview(of: $0) != nil } }
        #expect(addresses.map { previews.cachedPreview(of: $0) } == [.some(Self.roses), .some(nil), .some(nil)])
        for address in addresses { previews.request(address) }
        #expect(pages.requested.values.sorted() == addresses.sorted())
    }

    @Test("A link whose request failed is requested again when it is shown while online, one a minute for each host")
    func retries() async throws {
        let (pages, clock) = (Pages(), ManualClock())
        pages.gate.open()
        pages.isReachable = false
        let previews = try #require(LinkPreviews(room: RoomID("r"), service: pages, time: Timekeeper(clock)))
        let (first, second) = ("https://a.example/roses", "https://a.example/red/roses")
        let other = "https://b.example/roses"
        func show() { for address in [first, second, other] { previews.request(address) } }
        func isShown(_ address: String) -> Bool { previews.cachedPreview(of: address) == .some(Self.roses) }
        show()
        await eventually { [first, second, other].allSatisfy { previews.cachedPreview(of: $0) != nil } }
        pages.isReachable = true
        show()
        previews.isOnline = false
        clock.advance(by: .seconds(60))
        show()
        await waitUntilIdle()
        #expect(pages.requested.values.count == 3, "too early, and not connected")

        previews.isOnline = true
        show()
        show()
        await eventually { isShown(first) && isShown(other) }
        await waitUntilIdle()
        #expect(!isShown(second) && pages.requested.values.count == 5)
        clock.advance(by: .seconds(60))
        show()
        await eventually { isShown(second) }
        #expect(pages.requested.values.count == 6)
    }

    @Test("A link that fails again and again is requested less and less often, at least once an hour.")
    func backOff() async throws {
        let (pages, clock) = (Pages(), ManualClock())
        pages.gate.open()
        pages.isReachable = false
        let previews = try #require(LinkPreviews(room: RoomID("r"), service: pages, time: Timekeeper(clock)))
        let address = "https://a.example/roses"
        previews.request(address)
        await eventually { previews.cachedPreview(of: address) != nil }
        for (index, minutes) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            clock.advance(by: .seconds(minutes * 60 - 1))
            previews.request(address)
            await waitUntilIdle()
            #expect(pages.requested.values.count == index + 1, "\(minutes) minutes are not over")
            clock.advance(by: .seconds(1))
            previews.request(address)
            await waitUntilIdle()
            #expect(pages.requested.values.count == index + 2)
        }
        pages.isReachable = true
        clock.advance(by: .seconds(3600))
        previews.request(address)
        await eventually { previews.cachedPreview(of: address) == .some(Self.roses) }
    }

    @Test("A backend without link previews is not asked")
    func unsupported() {
        #expect(LinkPreviews(room: RoomID("r"), service: Pages([])) == nil)
    }

    @Test("A card shows the site, or else the link's host, and names the link's target")
    func texts() throws {
        let link = BodyLink(to: try #require(LinkTarget("https://a.example/roses")), shownAs: "roses")
        let roses = try #require(Self.roses)
        #expect(roses.siteText(of: link) == "a.example" && roses.accessibleText(.untranslated) == "Open Roses")
        let named = try #require(LinkPreview(title: "Roses", summary: "", site: "Garden", picture: nil))
        #expect(named.siteText(of: link) == "Garden")
    }
}
