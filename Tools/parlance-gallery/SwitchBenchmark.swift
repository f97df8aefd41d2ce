import CGtk
import ChatCore
import ChatGtk
import ChatViewModels
import GtkKit
import TimelineGtk
import ToolSupport

/// Measures opening a room that was open before, until its last frame.
struct SwitchBenchmark {
    let gallery: Gallery
    let rounds: Int

    private static let rooms = [(FixtureService.choir, "room of text"), (FixtureService.mixed, "room of all kinds")]

    private final class Costs {
        var cpu: [Double] = []
        var frames: [Double] = []
        /// The number of the first frame that shows messages of the room.
        var arrivals: [Double] = []
    }

    /// - Returns: the exit status.
    func run() async -> Int32 {
        await gallery.openWindow()
        guard let window = gallery.window?.window else { return 2 }
        window.withPointer { gtk_window_set_default_size($0, 900, 700) }
        CaretBlinking.stop()
        await gallery.pause()
        gallery.window?.showConversation()
        var table = BenchmarkTable(nameWidth: 84)
        for (name, costs) in await measure(in: window) {
            table.add([
                BenchmarkRow(name: "\(name): switch to it, least", value: costs.cpu.min() ?? .infinity, unit: "ms CPU"),
                BenchmarkRow(name: "\(name): switch to it, median", value: Self.median(costs.cpu), unit: "ms CPU"),
                BenchmarkRow(
                    name: "\(name): frame that has its messages, median", value: Self.median(costs.arrivals),
                    unit: "frames", target: 2),
                BenchmarkRow(
                    name: "\(name): frames until all rests, median", value: Self.median(costs.frames), unit: "frames"),
            ])
        }
        return table.finish() ? 0 : 1
    }

    func rows(in window: Widget) async -> [BenchmarkRow] {
        await measure(in: window).map { name, costs in
            // A room that does not open costs nothing.
            let value = Self.median(costs.arrivals) == .infinity ? .infinity : Self.median(costs.cpu)
            return BenchmarkRow(name: "\(name): switch to it, median", value: value, unit: "ms CPU", target: 50)
        }
    }

    private func measure(in window: Widget) async -> [(String, Costs)] {
        let all = Self.rooms.map { (room: $0.0, name: $0.1, costs: Costs()) }
        for _ in 0..<rounds {
            for (room, _, costs) in all {
                let before = FrameCost.cpu
                await open(room)
                costs.cpu.append(FrameCost.cpu - before)
            }
        }
        // Count frames separately: looking up what is shown costs more than the switch.
        for _ in 0..<min(rounds, 5) {
            for (room, _, costs) in all {
                let (frames, arrival) = await countFrames(in: window) { await open(room) }
                costs.frames.append(frames)
                costs.arrivals.append(arrival)
            }
        }
        return all.map { ($0.name, $0.costs) }
    }

    private func open(_ room: RoomID) async {
        gallery.coordinator?.rooms.send(.select(room))
        await gallery.pause()
    }

    private func countFrames(
        in window: Widget, during open: () async -> Void
    ) async -> (all: Double, arrival: Double) {
        var (frames, arrival) = (0.0, Double.infinity)
        let connection = window.frameClock?.connect("after-paint") { _ in
            frames += 1
            if arrival > frames, showsMessages(in: window) { arrival = frames }
        }
        await open()
        connection?.disconnect()
        return (frames, arrival)
    }

    /// Whether a message in view belongs to the room that is open.
    private func showsMessages(in window: Widget) -> Bool {
        guard let rows = gallery.coordinator?.conversation?.timeline.rows, let list = TimelineList.below(window) else {
            return false
        }
        let half = Double(list.widget.height) / 2
        guard let key = list.row(at: half, nearest: true)?.key.base as? TimelineItem.ID else { return false }
        return rows.index(of: key) != nil
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? .infinity : values.sorted()[values.count / 2]
    }
}
