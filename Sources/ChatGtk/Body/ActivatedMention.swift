public import Composer
public import GtkKit

/// A mention in a message that the user has activated, and where it is.
public struct ActivatedMention {
    public let mention: Mention
    /// The text that the mention is in.
    public let text: Widget
    /// The first line of the mention, in the text's coordinates.
    let bounds: Snapshot.Rectangle
}
