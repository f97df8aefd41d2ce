extension Unicode.Scalar {
    /// Whether a grapheme cluster ends between this scalar and the next whatever stands before and after both.
    ///
    /// Only three rules of UAX #29 look further than one scalar back (GB9c, GB11, GB12–13), and all of them need
    /// a scalar that extends a cluster, or two regional indicators. False only means that more must be read.
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
