import CGtk
import ChatGtk
import ChatViewModels
import Foundation
import GtkKit
import ToolSupport

/// Measures the switcher from the key press to its first frame, in an account with many rooms, against a dialog of the
/// same size that contains only a text field. The target applies to the work before GTK draws: how much of a window's
/// first frame falls into the measured frame depends on the window manager's response time.
struct SwitcherBenchmark {
    let gallery: Gallery

    private static let rounds = 15

    private struct Cost {
        let opening: Double
        let frame: Double
    }

    /// - Returns: the exit status.
    func run() async -> Int32 {
        await gallery.openWindow()
        guard let window = gallery.window else { return 2 }
        await gallery.service.addRooms(10_000)
        while gallery.coordinator?.rooms.state.rows.count ?? 10_000 < 10_000 { await gallery.pause() }
        await gallery.pause()
        // Alternate, so that other load on the machine affects both.
        var costs: (dialog: [Cost], switcher: [Cost]) = ([], [])
        for _ in 0..<Self.rounds {
            guard let dialog = await cost({ Self.presentEmptyDialog(over: window.window) }),
                let switcher = await cost({ window.switchRoom() })
            else { return 2 }
            costs.dialog.append(dialog)
            costs.switcher.append(switcher)
        }
        var table = BenchmarkTable(nameWidth: 84)
        table.add([
            BenchmarkRow(
                name: "a dialog with a field: to its first frame, median",
                value: Self.median(costs.dialog.map(\.frame)), unit: "ms CPU"),
            BenchmarkRow(
                name: "switcher among 10,000 rooms: to its first frame, median",
                value: Self.median(costs.switcher.map(\.frame)), unit: "ms CPU"),
            BenchmarkRow(
                name: "switcher among 10,000 rooms: before its first frame is drawn, median",
                value: Self.median(costs.switcher.map(\.opening)), unit: "ms CPU", target: FrameCost.frame),
        ])
        return table.finish() ? 0 : 1
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private func cost(_ present: () -> Void) async -> Cost? {
        let before = FrameCost.cpu
        present()
        let opening = FrameCost.cpu - before
        guard let dialog = Dialog.all.first else { return nil }
        await FrameCost.nextFrame(of: dialog)
        let cost = Cost(opening: opening, frame: FrameCost.cpu - before)
        dialog.close()
        await gallery.pause()
        return cost
    }

    private static func presentEmptyDialog(over parent: Widget) {
        let dialog = Dialog(title: "Dialog", width: 400, height: 480)
        let field = SearchEntry()
        field.hexpand = true
        let header = HeaderBar()
        header.addStyle("flat")
        header.titleWidget = field
        let content = Box(.vertical)
        content.append(header)
        let scroller = ScrolledWindow(Box(.vertical))
        scroller.vexpand = true
        content.append(scroller)
        dialog.setContent(content)
        dialog.present(over: parent)
        field.grabFocus()
    }
}
