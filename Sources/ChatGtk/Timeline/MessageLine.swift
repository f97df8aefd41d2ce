import GtkKit

/// A bubble at its natural width: at the end of the line, or at its start beside the sender's avatar.
///
/// GTK's boxes, and the alignment of widgets, look for the least width at which a bubble is no higher, and for that break
/// the lines of its text at ten widths.
final class MessageLine: WidgetImplementation {
    override class var typeName: String { "ParlanceMessageLine" }

    static let avatarSize = 30
    static let avatarSpacing = 6

    /// Whether the bubble is at the end.
    var isOwn = false
    private var bubble: Widget?
    private var avatar: Widget?

    func setBubble(_ bubble: Widget) {
        bubble.setParent(self)
        self.bubble = bubble
    }

    func setAvatar(_ avatar: Widget) {
        avatar.setParent(self)
        self.avatar = avatar
    }

    /// The space before the bubble.
    private var inset: Int { avatar == nil ? 0 : Self.avatarSize + Self.avatarSpacing }

    private func bubbleWidth(in width: Int) -> Int {
        guard let request = bubble?.measure(.horizontal) else { return 0 }
        return max(request.minimum, min(request.natural, width - inset))
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        // GTK requires children to be measured before they are allocated.
        _ = avatar?.measure(orientation)
        guard let bubble else { return SizeRequest(minimum: 0, natural: 0) }
        switch orientation {
        case .horizontal:
            let request = bubble.measure(.horizontal)
            return SizeRequest(minimum: request.minimum + inset, natural: request.natural + inset)
        case .vertical:
            return bubble.measure(.vertical, for: size < 0 ? -1 : bubbleWidth(in: size))
        }
    }

    override func allocate(width: Int, height: Int) {
        let bubbleWidth = bubbleWidth(in: width)
        place(bubble, at: isOwn ? width - bubbleWidth : inset, bubbleWidth, height, in: width)
        guard let avatar else { return }
        let side = Self.avatarSize
        place(avatar, at: 0, y: height - side, side, side, in: width)
    }

    /// - Parameter start: The distance from the start of the line, which is on the right from right to left.
    private func place(_ child: Widget?, at start: Int, y: Int = 0, _ childWidth: Int, _ height: Int, in width: Int) {
        let x = isRightToLeft ? width - start - childWidth : start
        child?.allocate(x: Double(x), y: Double(y), width: childWidth, height: height)
    }

    override func dispose() {
        super.dispose()
        (bubble, avatar) = (nil, nil)
    }
}
