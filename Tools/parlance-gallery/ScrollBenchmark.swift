import CGtk
import ChatCore
import ChatGtk
import ChatViewModels
import Foundation
import GtkKit
import TimelineGtk
import ToolSupport

/// The main-thread cost of scrolling through a room with all kinds of messages, in the application's own window.
struct ScrollBenchmark {
    let gallery: Gallery

    /// The distance in pixels that GtkScrolledWindow scrolls per wheel notch.
    private static let notch = 78.84

    /// - Returns: the exit status.
    func run() async -> Int32 {
        await gallery.openWindow()
        guard let window = gallery.window?.window else { return 2 }
        window.withPointer { gtk_window_set_default_size($0, 900, 700) }
        CaretBlinking.stop()
        var table = BenchmarkTable(nameWidth: 84)
        guard let mixed = await open(FixtureService.mixed) else { return 2 }
        table.add(await rest(mixed))
        table.add(await scrolling(mixed))
        table.add(await SwitchBenchmark(gallery: gallery, rounds: 9).rows(in: window))
        guard let images = await open(FixtureService.images) else { return 2 }
        table.add(await memory(images))
        return table.finish() ? 0 : 1
    }

    // MARK: Measurements

    private func scrolling(_ list: TimelineList) async -> [BenchmarkRow] {
        var costs: [Double] = []
        let (bound, start) = (list.statistics.bindings, FrameCost.cpu)
        for _ in 0..<600 {
            let before = FrameCost.cpu
            list.scroll(by: -Self.notch)
            await FrameCost.nextFrame(of: list.widget)
            costs.append(FrameCost.cpu - before)
        }
        let seconds = (FrameCost.cpu - start) / 1000
        costs.sort()
        return [
            BenchmarkRow(
                name: "room of all kinds: rows bound", value: Double(list.statistics.bindings - bound) / seconds,
                unit: "a second of CPU"),
            BenchmarkRow(name: "room of all kinds: wheel frame, median", value: costs[300], unit: "ms CPU"),
            BenchmarkRow(
                name: "room of all kinds: wheel frame, 99th percentile", value: costs[594], unit: "ms CPU"),
            BenchmarkRow(
                name: "room of all kinds: of 600 wheel frames over 16.7 ms",
                value: Double(costs.count { $0 > FrameCost.frame }), unit: "frames"),
        ]
    }

    /// Animated images are nearby but out of view: nothing should be painted.
    private func rest(_ list: TimelineList) async -> BenchmarkRow {
        for step in [-1.0, 1] {
            for _ in 0..<30 {
                list.scroll(by: step * Self.notch)
                await FrameCost.nextFrame(of: list.widget)
            }
        }
        // Wait for the overlay scrollbar to fade out.
        try? await Task.sleep(for: .seconds(4))
        let frames = Counter()
        let clock = Object(
            borrowing: UnsafeMutableRawPointer(list.widget.withPointer { gtk_widget_get_frame_clock($0) }))
        let connection = clock.connect("after-paint") { _ in frames.value += 1 }
        // Throws only on cancellation, and nothing cancels this task.
        try? await Task.sleep(for: .seconds(5))
        let idle = frames.value
        // One that is asked for is counted; otherwise, none would have been.
        await FrameCost.nextFrame(of: list.widget)
        connection.disconnect()
        return BenchmarkRow(
            name: "room of all kinds: painted in 5 idle seconds, a moving picture out of sight",
            value: frames.value > idle ? Double(idle) : .infinity, unit: "frames", target: 0)
    }

    private func memory(_ list: TimelineList) async -> [BenchmarkRow] {
        func pages(_ count: Int) async -> Int {
            var peak = 0
            for _ in 0..<count {
                list.scrollPage(-1)
                await FrameCost.nextFrame(of: list.widget)
                // Leaves time to decode most of the images.
                try? await Task.sleep(for: .milliseconds(60))
                peak = max(peak, Self.residentBytes)
            }
            return peak
        }
        _ = await pages(60)
        let before = Self.residentBytes
        let peak = await pages(400)
        return [
            BenchmarkRow(name: "1,000 pictures: memory after the first 150", value: Self.megabytes(before), unit: "MB"),
            BenchmarkRow(
                name: "1,000 pictures: the most that the others add to it", value: Self.megabytes(peak - before),
                unit: "MB", target: 48),
        ]
    }

    // MARK: Helpers

    private final class Counter { var value = 0 }

    private func open(_ room: RoomID) async -> TimelineList? {
        gallery.coordinator?.rooms.send(.select(room))
        gallery.window?.showConversation()
        await gallery.pause()
        await gallery.pause()
        return gallery.window.flatMap { TimelineList.below($0.window) }
    }

    private static var residentBytes: Int {
        // Linux always has this file.
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
            * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func megabytes(_ bytes: Int) -> Double { Double(bytes) / 1_000_000 }
}

extension TimelineList {
    /// Returns the first timeline list in a widget tree, or `nil` if there is none.
    static func below(_ widget: Widget) -> TimelineList? {
        of(widget) ?? widget.children.lazy.compactMap { below($0) }.first
    }
}
