import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit

final class KeyListModelTests: GtkTestCase {
    @MainActor private static func contents(of model: KeyListModel) -> [String] {
        (0..<g_list_model_get_n_items(model.cast())).compactMap { index in
            guard let item = g_list_model_get_item(model.cast(), index) else { return nil }
            defer { g_object_unref(item) }
            return gtk_string_object_get_string(OpaquePointer(item)).map { String(cString: $0) }
        }
    }

    func testAppliesAnySequenceOfLists() {
        onMain {
            var random = SystemRandomNumberGenerator()
            let model = KeyListModel()
            for _ in 0..<200 {
                let keys = (0..<12).map { "k\($0)" }.shuffled(using: &random).prefix(Int.random(in: 0...12))
                model.apply(Array(keys))
                XCTAssertEqual(Self.contents(of: model), Array(keys))
            }
        }
    }

    func testMovingOneKeyTouchesOnlyThatKey() {
        onMain {
            let model = KeyListModel(keys: ["a", "b", "c", "d"])
            var touched = 0
            model.connect("items-changed") { arguments in touched += Int(arguments.uint(1) + arguments.uint(2)) }
            model.apply(["d", "a", "b", "c"])
            XCTAssertEqual(touched, 2)
            model.refresh("b")
            XCTAssertEqual(touched, 4)
            model.refresh("not there")
            XCTAssertEqual(Self.contents(of: model), ["d", "a", "b", "c"])
        }
    }

    /// The rooms of one account after those of another.
    func testListsWithoutACommonKeyAreReplacedAtOnce() {
        onMain {
            let model = KeyListModel()
            var changes: [[Int]] = []
            model.connect("items-changed") { arguments in
                changes.append((0..<3).map { Int(arguments.uint($0)) })
            }
            let keys = (0..<500).map { "schlüssel \($0)" }
            model.apply(keys)
            XCTAssertEqual(Self.contents(of: model), keys)
            model.apply([])
            XCTAssertEqual(Self.contents(of: model), [])
            XCTAssertEqual(changes, [[0, 0, 500], [0, 500, 0]])
            XCTAssertEqual(model.keys, [])
        }
    }

    func testDroppedRowsAreReported() {
        onMain {
            let model = KeyListModel(keys: ["one", "two", "three"])
            let list = ListView(sinking: gtk_list_view_new(nil, nil))
            var rows: Set<ObjectIdentity> = []
            var made = 0
            list.setUp(
                model,
                make: {
                    let row = Label()
                    rows.insert(row.identity)
                    made += 1
                    return row
                }, bind: { _, _ in }, unbind: { _, _ in }, teardown: { rows.remove($0.identity) })
            let window = TestWindow(list)
            XCTAssertTrue(MainLoop.pump { rows.count == 3 })
            for _ in 0..<20 {
                model.apply(["three", "one", "two"])
                model.apply(["one", "two", "three"])
            }
            XCTAssertGreaterThan(made, 20)
            XCTAssertTrue(MainLoop.pump { rows.count == 3 }, "\(rows.count)")
            model.apply([])
            XCTAssertTrue(MainLoop.pump { rows.isEmpty }, "\(rows.count)")
            window.close()
        }
    }

    func testListViewCreatesBindsAndSelects() {
        onMain {
            let model = KeyListModel(keys: ["one", "two"])
            let list = ListView(sinking: gtk_list_view_new(nil, nil))
            var shown: [String] = []
            list.setUp(
                model, make: { Label() },
                bind: { row, key in
                    row.setProperty("label", key)
                    shown.append(key)
                }, unbind: { _, key in shown.removeAll { $0 == key } })
            let window = TestWindow(list)
            XCTAssertTrue(MainLoop.pump { shown.sorted() == ["one", "two"] })
            var selections: [Int?] = []
            list.onSelectionChange { [weak list] in selections.append(list?.selectedIndex) }
            list.selectedIndex = 1
            list.selectedIndex = nil
            XCTAssertEqual(selections, [1, nil])
            window.close()
        }
    }
}
