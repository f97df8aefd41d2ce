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

    required init(pointer: UnsafeMutableRawPointer) {
        super.init(pointer: pointer)
        gtk_widget_set_hexpand(cast(), 1)
        gtk_widget_set_valign(cast(), GTK_ALIGN_CENTER)
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        click.connect("released") { [weak self] arguments in
            guard let self else { return }
            onSeek?(min(max(arguments.double(1) / Double(max(1, gtk_widget_get_width(cast()))), 0), 1))
        }
        widget.addController(click)
    }

    /// - Parameter values: Amplitudes from 0 to ``ChatCore/MediaDescription/maxAmplitude``; empty for a flat line.
    func show(_ values: [Int]) {
        self.values = values
        gtk_widget_queue_draw(cast())
    }

    func setPlaybackPosition(_ position: Double) {
        guard position != playbackPosition else { return }
        playbackPosition = position
        gtk_widget_queue_draw(cast())
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        switch orientation {
        case .horizontal: SizeRequest(minimum: 60, natural: Self.natural.width)
        case .vertical: SizeRequest(minimum: Self.natural.height, natural: Self.natural.height)
        }
    }

    override func snapshot(_ snapshot: OpaquePointer) {
        let (width, height) = (Double(gtk_widget_get_width(cast())), Double(gtk_widget_get_height(cast())))
        let count = Int((width + Self.bar.gap) / (Self.bar.width + Self.bar.gap))
        guard count > 0 else { return }
        var color = GdkRGBA()
        shim_widget_color(pointer, &color)
        let isRightToLeft = gtk_widget_get_direction(cast()) == GTK_TEXT_DIR_RTL
        for index in 0..<count {
            let position = Double(index) / Double(count)
            var shade = color
            shade.alpha *= position < playbackPosition ? 1 : 0.35
            let tall = max(Self.bar.least, amplitude(at: position) * height)
            let left = Double(index) * (Self.bar.width + Self.bar.gap)
            var bounds = graphene_rect_t(
                origin: graphene_point_t(
                    x: Float(isRightToLeft ? width - left - Self.bar.width : left), y: Float((height - tall) / 2)),
                size: graphene_size_t(width: Float(Self.bar.width), height: Float(tall)))
            gtk_snapshot_append_color(snapshot, &shade, &bounds)
        }
    }

    /// The amplitude at a fraction of the duration, from 0 to 1.
    private func amplitude(at position: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        return Double(values[min(values.count - 1, Int(position * Double(values.count)))])
            / Double(MediaDescription.maxAmplitude)
    }
}
