import Glibc
import PictureDecoding

/// What a GIF's frames are drawn on, one over the other. Nothing is drawn beyond its edges.
final class GIFCanvas {
    struct Area {
        var left: Int
        var top: Int
        var width: Int
        var height: Int
    }

    /// What is left of a frame when the next one comes.
    enum Disposal {
        case all
        /// Its area is transparent.
        case nothing
        /// Its area is as before it.
        case before
    }

    let pixels: PixelMemory
    private let width: Int
    private let height: Int
    /// Of the last frame, what goes when the next one comes.
    private var end: (area: Area, before: PixelMemory?)?

    init(width: Int, height: Int) throws(ImageFailure) {
        self.width = width
        self.height = height
        pixels = try PixelMemory(width * height)
    }

    /// Ends the frame before, and begins the next one.
    func startFrame(_ area: Area, thenKeeping disposal: Disposal) throws(ImageFailure) {
        if let end {
            copy(end.area) { row, target, count in
                if let before = end.before {
                    memcpy(target, before.whole + row * count, count * 4)
                } else {
                    memset(target, 0, count * 4)
                }
            }
        }
        let area = inside(area)
        end =
            switch disposal {
            case .all: nil
            case .nothing: (area, nil)
            case .before: (area, try savedPixels(area))
            }
    }

    /// - Parameters:
    ///   - line: a color's number each.
    ///   - colors: of all 256 numbers; those without alpha leave what is there.
    func draw(_ line: [UInt8], row: Int, of area: Area, _ colors: [UInt32]) {
        let y = area.top + row
        guard y >= 0, y < height, area.left >= 0, area.left < width else { return }
        let target = pixels.whole + y * width + area.left
        line.withUnsafeBufferPointer { line in
            colors.withUnsafeBufferPointer { colors in
                for column in 0..<min(line.count, width - area.left) {
                    let color = colors[Int(line[column])]
                    if color != 0 { target[column] = color }
                }
            }
        }
    }

    private func savedPixels(_ area: Area) throws(ImageFailure) -> PixelMemory {
        let memory = try PixelMemory(area.width * area.height)
        copy(area) { row, from, count in memcpy(memory.whole + row * count, from, count * 4) }
        return memory
    }

    private func copy(_ area: Area, _ body: (Int, UnsafeMutablePointer<UInt32>, Int) -> Void) {
        guard area.width > 0 else { return }
        for row in 0..<area.height { body(row, pixels.whole + (area.top + row) * width + area.left, area.width) }
    }

    private func inside(_ area: Area) -> Area {
        let (left, top) = (min(max(0, area.left), width), min(max(0, area.top), height))
        return Area(
            left: left, top: top, width: min(max(0, area.width), width - left),
            height: min(max(0, area.height), height - top))
    }
}
