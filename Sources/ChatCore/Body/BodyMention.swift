/// Someone or something named in a text, drawn as a pill.
public enum BodyMention: Hashable, Sendable {
    case member(String)
    /// An identifier or alias of a room.
    case room(String)
    /// Everyone in the room.
    case everyone
}
