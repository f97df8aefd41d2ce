extension Unicode.Scalar {
    /// Whether there is a grapheme cluster boundary between this scalar and `next` regardless of context.
    ///
    /// Only three rules of UAX #29 look back further than one scalar (GB9c, GB11, GB12–13). All of them involve a
    /// scalar that extends a cluster, or two regional indicators. `false` only means that more context is needed.
    func certainlyBreaks(before next: Unicode.Scalar) -> Bool {
        if value < 0x80, next.value < 0x80 { return !(self == "\r" && next == "\n") }
        if extendsCluster, next.value >= 0x80 { return false }
        return Self.clusterCount(self, next) == 2
    }

    private var extendsCluster: Bool {
        Self.clusterCount("a", self) == 1
    }

    private static func clusterCount(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Int {
        var text = ""
        text.unicodeScalars.append(first)
        text.unicodeScalars.append(second)
        return text.count
    }
}
