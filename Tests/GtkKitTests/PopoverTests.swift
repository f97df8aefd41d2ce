import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit

/// Pointer grabs of popovers.
final class PopoverTests: GtkTestCase {
    /// An open popover whose parent goes away releases its grab: the next click reaches the window.
    func testPopoverReleasesItsGrabWithItsParent() throws {
        try onMain {
            for way in ["hidden", "unparented", "in another window"] {
                let page = Box(.vertical)
                let place = Label("place")
                page.append(place)
                let popover = Widget(sinking: gtk_popover_new())
                let inside = Label("inside")
                gtk_popover_set_child(popover.cast(), inside.cast())
                popover.attachPopover(to: place)
                let button = Button(sinking: gtk_button_new_with_label("button"))
                var clicks = 0
                button.onClick { clicks += 1 }
                let box = Box(.vertical)
                box.append(page)
                if way != "in another window" { box.append(button) }
                let own = TestWindow(box, width: 400, height: 300)
                let other = way == "in another window" ? TestWindow(button) : nil
                try RealInput.activate(own.window)
                gtk_popover_popup(popover.cast())
                XCTAssertTrue(MainLoop.pump { popover.isMapped }, way)
                switch way {
                case "hidden": page.isVisible = false
                case "unparented": gtk_widget_unparent(popover.cast())
                default: own.close()
                }
                XCTAssertTrue(MainLoop.pump { !popover.isMapped }, way)
                try RealInput.activate((other ?? own).window)
                try RealInput.point(at: button)
                try RealInput.click()
                XCTAssertTrue(MainLoop.pump { clicks == 1 }, "\(way): the click is lost")
                if way == "hidden" {
                    page.isVisible = true
                    XCTAssertFalse(popover.isVisible, "it is closed, and stays so")
                    gtk_widget_unparent(popover.cast())
                }
                (other ?? own).close()
            }
        }
    }

    /// GTK would crash.
    func testPopoverOpensOnlyInAWindow() throws {
        try onMain {
            let box = Box(.vertical)
            let place = Label("place")
            let popover = CompanionPopover(parent: place)
            popover.setChild(Label("inside"))
            popover.isOpen = true
            XCTAssertFalse(popover.isOpen, "its anchor is in no window")
            box.append(place)
            let own = TestWindow(box, width: 400, height: 300)
            try RealInput.activate(own.window)
            popover.isOpen = true
            XCTAssertTrue(MainLoop.pump { popover.isMapped })
            box.remove(place)
            XCTAssertFalse(popover.isOpen)
            popover.isOpen = true
            XCTAssertFalse(popover.isOpen, "its anchor has left the window")
            gtk_widget_unparent(popover.cast())
            own.close()
        }
    }

    /// A menu button that is off every monitor opens nothing, and works again once the window is back.
    func testPopoverOpensOnlyOnAMonitor() throws {
        try onMain {
            PopoverPlacement.installShowGuard
            let box = Box(.vertical)
            let spacer = Label("left")
            spacer.addStyle("title-1")
            gtk_widget_set_size_request(spacer.cast(), 500, 300)
            let button = Widget(sinking: gtk_menu_button_new())
            let popover = Widget(sinking: gtk_popover_new())
            let inside = Label("inside")
            gtk_popover_set_child(popover.cast(), inside.cast())
            gtk_menu_button_set_popover(button.cast(), popover.cast())
            box.append(spacer)
            box.append(button)
            let own = TestWindow(box, width: 500, height: 400)
            try RealInput.activate(own.window)
            let xdotool = try XdotoolSession()
            let window = try RealInput.activeWindow()
            for _ in 0..<3 {
                try xdotool.run(["windowmove", "--sync", window, "20", "20"])
                try WindowManager.wait()
                try RealInput.waitForFrames(6, of: own.window)
                gtk_menu_button_popup(button.cast())
                XCTAssertTrue(MainLoop.pump { popover.isMapped }, "the anchor is on a monitor")
                gtk_menu_button_popdown(button.cast())
                XCTAssertTrue(MainLoop.pump { !popover.isMapped })
                // The button is below the lower edge.
                try xdotool.run(["windowmove", "--sync", window, "20", "600"])
                try WindowManager.wait()
                try RealInput.waitForFrames(6, of: own.window)
                gtk_menu_button_popup(button.cast())
                XCTAssertFalse(popover.isVisible, "the anchor is on no monitor")
                XCTAssertFalse(button.isOn("active"), "the button waits for nothing")
            }
            try xdotool.close()
            own.close()
        }
    }
}
