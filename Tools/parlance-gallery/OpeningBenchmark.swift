import CGtk
import ChatGtk
import ChatViewModels
import Foundation
import GtkKit
import TimelineGtk
import ToolSupport

/// Measures the opening of 1,000 sealed messages at once, during which no row may move and no frame may be late.
struct OpeningBenchmark {
    let gallery: Gallery

    /// The messages that are opened and published together, as many as an account's `SealedMessages` opens.
    private static let chunk = 200
    /// Slightly fewer than the timeline retains of 1,000 messages.
    private static let loaded = 900

    private final class Frames {
        var costs: [Double] = []
        var moved = 0.0
    }

    /// - Returns: the exit status.
    func run() async -> Int32 {
        guard EncryptionSetting.isOn else {
            print("opening: the program was built without encryption, so there is nothing to measure")
            return 0
        }
        await gallery.openWindow()
        guard let window = gallery.window?.window else { return 2 }
        window.withPointer { gtk_window_set_default_size($0, 900, 700) }
        await gallery.service.seal(FixtureService.choir)
        gallery.coordinator?.rooms.send(.select(FixtureService.choir))
        gallery.window?.showConversation()
        await gallery.pause()
        guard let list = TimelineList.below(window), await loadAll(list) else {
            print("opening: the messages were not loaded")
            return 2
        }
        var table = BenchmarkTable(nameWidth: 84)
        list.scroll(toIndex: list.count / 2, at: .start)
        await gallery.pause()
        list.scroll(by: -33.4)
        await gallery.pause()
        let rows = list.count
        var redraws: [Double] = []
        for _ in 0..<9 {
            let before = FrameCost.cpu
            window.queueDraw()
            await FrameCost.nextFrame(of: list.widget)
            redraws.append(FrameCost.cpu - before)
        }
        let sealed = sealedRows
        guard sealed > 0 else {
            print("opening: no message was sealed")
            return 2
        }
        guard let frames = await openAll(list) else {
            print("opening: the messages were not opened")
            return 2
        }
        guard sealedRows == 0 else {
            print("opening: \(sealedRows) of \(sealed) messages are still sealed")
            return 2
        }
        guard let slowest = frames.costs.max() else {
            print("opening: no frame was drawn")
            return 2
        }
        table.add([
            BenchmarkRow(
                name: "1,000 messages become readable: rows that are loaded", value: Double(rows), unit: "rows"),
            BenchmarkRow(
                name: "1,000 messages become readable: a frame that draws the same anew, median",
                value: redraws.sorted()[4], unit: "ms CPU"),
            BenchmarkRow(
                name: "1,000 messages become readable: the row that is read moves", value: frames.moved, unit: "px",
                target: 0),
            BenchmarkRow(
                name: "1,000 messages become readable: slowest frame", value: slowest, unit: "ms CPU",
                target: FrameCost.frame),
            BenchmarkRow(
                name: "1,000 messages become readable: all frames", value: frames.costs.reduce(0, +), unit: "ms CPU"),
        ])
        return table.finish() ? 0 : 1
    }

    /// Loads as many messages as the list retains, by scrolling to its start.
    private func loadAll(_ list: TimelineList) async -> Bool {
        for _ in 0..<60 where list.count < Self.loaded {
            list.scrollToStart()
            await gallery.pause()
        }
        return list.count >= Self.loaded
    }

    private var sealedRows: Int {
        guard let rows = gallery.coordinator?.conversation?.timeline.rows else { return 0 }
        return rows.count { $0.message?.isSealed == true }
    }

    /// - Returns: `nil` if no row is in view, or nothing was opened.
    private func openAll(_ list: TimelineList) async -> Frames? {
        guard let read = list.lowestWholeRow else { return nil }
        let frames = Frames()
        let clock = Object(
            borrowing: UnsafeMutableRawPointer(list.widget.withPointer { gtk_widget_get_frame_clock($0) }))
        var before = FrameCost.cpu
        let connection = clock.connect("after-paint") { _ in
            let now = FrameCost.cpu
            frames.costs.append(now - before)
            before = now
            let bottom = list.bounds(of: read.key).map { $0.top + $0.height }
            frames.moved = max(frames.moved, bottom.map { abs($0 - read.bottom) } ?? 9999)
        }
        defer { connection.disconnect() }
        do {
            try await gallery.service.unseal(FixtureService.choir, inChunksOf: Self.chunk)
        } catch {
            return nil
        }
        await gallery.pause()
        await gallery.pause()
        return frames
    }
}

extension TimelineList {
    /// The row being read: the lowest one whose bottom edge is visible.
    fileprivate var lowestWholeRow: (key: AnyHashable, bottom: Double)? {
        var found: (key: AnyHashable, bottom: Double)?
        let height = Double(widget.height)
        for (key, _) in realizedRows {
            guard let bounds = bounds(of: key) else { continue }
            let bottom = bounds.top + bounds.height
            if bottom > 0, bottom <= height, bottom > found?.bottom ?? 0 { found = (key, bottom) }
        }
        return found
    }
}
