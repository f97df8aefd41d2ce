import ChatViewModels
import Composer
import GtkKit

/// How a bar looks: like the samples of the libraries that people come from (MIB-48). A look is a style class and some of
/// the bar's own properties; what is in its slots is the host's.
public enum BarAppearance: String, CaseIterable, Sendable {
    /// The library's own.
    case parlance
    /// A frame with a toolbar below, at whose end the send button is.
    case slack
    /// A round frame around text and send button.
    case iMessage
    /// No frame but the text's.
    case messenger
    /// Flat, with a large icon to send.
    case gitHawk
    /// Translucent, to lie over the content.
    case glass

    /// The style class of ``ComposerBar`` that the style sheet knows; nil for the bar as it is.
    var styleClass: String? { self == .parlance ? nil : "look-" + rawValue.lowercased() }
}

extension ComposerBar {
    /// The look, by ``BarAppearance``'s names; another name changes nothing. Sets where the send button is and whether it stays;
    /// both can be set differently afterwards.
    public var appearance: String {
        get { chosenAppearance.rawValue }
        set {
            guard let appearance = BarAppearance(rawValue: newValue), appearance != chosenAppearance else { return }
            if let old = chosenAppearance.styleClass { widget.setStyle(old, false) }
            if let new = appearance.styleClass { widget.addStyle(new) }
            chosenAppearance = appearance
            sendsBelow = appearance == .slack
            hidesSend = appearance != .slack && appearance != .gitHawk
        }
    }
}
