import CGtk
import ChatCore
import GtkKit

/// The waveform of a voice message, as bars. Those already played are opaque; a click seeks.
final class WaveformView: WidgetImplementation {
    override class var typeName: String { "ParlanceLoudnessBars" }
    override class var cssName: String { "loudnessbars" }
    override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_IMG }

    /// Called with the position that was clicked, as a fraction of the duration from 0 to 1.
    var onSeek: ((Double) -> Void)?
    private var values: [Int] = []
    /// The fraction of the duration that has been played, from 0 to 1.
    private(set) var playbackPosition = 0.0
    /// The width of a bar, the gap between bars and the minimum height of a bar, in logical pixels.
    private static let bar = (width: 2.0, gap: 2.0, least: 3.0)
    private static let natural = (width: 180, height: 32)

    required init(instance: WidgetInstance) {
        super.init(instance: instance)
        hexpand = true
        valign = .center
        let click = ClickGesture()
        click.onRelease { [weak self] event in
            guard let self else { return }
            let position = min(max(event.x / Double(max(1, width)), 0), 1)
            onSeek?(isRightToLeft ? 1 - position : position)
        }
        addController(click)
    }

    /// - Parameter values: Amplitudes from 0 to ``ChatCore/MediaDescription/maxAmplitude``; empty for a flat line.
    func show(_ values: [Int]) {
        self.values = values
        queueDraw()
    }

    func setPlaybackPosition(_ position: Double) {
        guard position != playbackPosition else { return }
        playbackPosition = position
        queueDraw()
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        switch orientation {
        case .horizontal: SizeRequest(minimum: 60, natural: Self.natural.width)
        case .vertical: SizeRequest(minimum: Self.natural.height, natural: Self.natural.height)
        }
    }

    override func snapshot(_ snapshot: Snapshot) {
        let (width, height) = (Double(self.width), Double(self.height))
        let count = Int((width + Self.bar.gap) / (Self.bar.width + Self.bar.gap))
        guard count > 0 else { return }
        let (color, isRightToLeft) = (self.color, self.isRightToLeft)
        for index in 0..<count {
            let position = Double(index) / Double(count)
            var shade = color
            shade.alpha *= position < playbackPosition ? 1 : 0.35
            let tall = max(Self.bar.least, amplitude(at: position) * height)
            let left = Double(index) * (Self.bar.width + Self.bar.gap)
            let x = isRightToLeft ? width - left - Self.bar.width : left
            snapshot.fill(.init(x: x, y: (height - tall) / 2, width: Self.bar.width, height: tall), shade)
        }
    }

    /// The amplitude at a fraction of the duration, from 0 to 1.
    private func amplitude(at position: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        return Double(values[min(values.count - 1, Int(position * Double(values.count)))])
            / Double(MediaDescription.maxAmplitude)
    }
}
