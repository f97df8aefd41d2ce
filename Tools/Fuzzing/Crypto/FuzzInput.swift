/// An input of the fuzzer as a row of decisions; behind its end all of them are zero.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    mutating func number(below count: Int) -> Int {
        guard count > 1 else { return 0 }
        return (count <= 256 ? Int(byte()) : Int(byte()) << 8 | Int(byte())) % count
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func choice<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    /// Takes all that is left.
    mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}
