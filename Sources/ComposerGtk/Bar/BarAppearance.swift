import Composer
import ComposerSessions
import GtkKit

/// The appearance of a bar, modeled on sample apps of other composer libraries (MIB-48). It sets a style class and some
/// of the bar's properties; the content of the slots is up to the host.
public enum BarAppearance: String, CaseIterable, Sendable {
    /// This library's own appearance.
    case parlance
    /// A frame with a toolbar below the text, which ends with the send button.
    case slack
    /// A rounded frame around the text and the send button.
    case iMessage
    /// A frame around the text only.
    case messenger
    /// Flat, with a large send icon.
    case gitHawk
    /// Translucent, for placing the bar over the content.
    case glass

    /// The CSS class of ``ComposerBar``, or `nil` for the default appearance.
    var styleClass: String? { self == .parlance ? nil : "look-" + rawValue.lowercased() }
}

extension ComposerBar {
    /// The appearance, as a raw value of ``BarAppearance``; other values are ignored. Sets ``sendsBelow`` and
    /// ``hidesSend``, which can be overridden afterwards.
    public var appearance: String {
        get { chosenAppearance.rawValue }
        set {
            guard let appearance = BarAppearance(rawValue: newValue), appearance != chosenAppearance else { return }
            if let old = chosenAppearance.styleClass { widget.setStyle(old, false) }
            if let new = appearance.styleClass { widget.addStyle(new) }
            chosenAppearance = appearance
            sendsBelow = appearance == .slack
            hidesSend = appearance == .iMessage || appearance == .messenger
        }
    }
}
