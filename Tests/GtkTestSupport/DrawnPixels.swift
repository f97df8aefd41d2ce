import CGtk
import Foundation
public import GtkKit

/// The pixels of a rendered widget.
public struct DrawnPixels {
    /// An opaque color with components from 0 to 1.
    public struct Color: Equatable {
        public var red, green, blue: Double

        /// The relative luminance as defined by WCAG 2.1.
        public var luminance: Double {
            func linear(_ value: Double) -> Double {
                value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        }

        /// The contrast ratio as defined by WCAG 2.1, from 1 to 21.
        public func contrast(with other: Color) -> Double {
            let (dark, light) = (min(luminance, other.luminance), max(luminance, other.luminance))
            return (light + 0.05) / (dark + 0.05)
        }
    }

    /// A pixel outside the widget was requested.
    struct OutOfBounds: Error {
        var x, y, width, height: Int
    }

    private let pixels: [UInt8]
    public let width: Int
    public let height: Int

    /// - Throws: ``TimedOut`` if the widget cannot be rendered yet.
    @MainActor
    public init(of widget: Widget) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "pixels-\(UUID().uuidString).png")
        // A leftover temporary file is harmless.
        defer { try? FileManager.default.removeItem(at: file) }
        guard MainLoop.pump(until: { widget.savePNG(to: file.path) }),
            let texture = gdk_texture_new_from_filename(file.path, nil)
        else {
            throw TimedOut()
        }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        width = Int(gdk_texture_get_width(texture))
        height = Int(gdk_texture_get_height(texture))
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        gdk_texture_download(texture, &pixels, gsize(width * 4))
        self.pixels = pixels
    }

    /// - Throws: ``OutOfBounds``.
    public func color(x: Int, y: Int) throws -> Color {
        guard 0..<width ~= x, 0..<height ~= y else { throw OutOfBounds(x: x, y: y, width: width, height: height) }
        // GDK_MEMORY_DEFAULT is BGRA on little-endian machines.
        let index = (y * width + x) * 4
        return Color(
            red: Double(pixels[index + 2]) / 255, green: Double(pixels[index + 1]) / 255,
            blue: Double(pixels[index]) / 255)
    }
}
