/// A sequence of ``HeightRun``s with subtree sums; split and join are O(log n) in the number of runs.
///
/// An implicit treap stored in an array: in-order traversal yields the runs, and random priorities form a heap.
/// Adjacent runs that ``HeightRun/canJoin(_:)`` allows to merge are always merged.
nonisolated struct HeightTree {
    typealias Reference = Int32
    static let none: Reference = -1

    /// The totals of a subtree.
    struct Sum: Equatable {
        var rows = 0
        var measured = 0
        /// The sum of the measured heights.
        var pixels = 0

        static func + (a: Sum, b: Sum) -> Sum {
            Sum(rows: a.rows + b.rows, measured: a.measured + b.measured, pixels: a.pixels + b.pixels)
        }
    }

    private struct Node {
        var run: HeightRun
        var priority: UInt32
        var left = HeightTree.none
        var right = HeightTree.none
        var sum: Sum
    }

    private var nodes: [Node] = []
    private var free: [Reference] = []
    private var root = HeightTree.none
    private var seed: UInt32 = 0x9E37_79B9

    var sum: Sum { sum(root) }
    var runs: Int { nodes.count - free.count }

    init() {}

    init(unmeasured rows: Int) {
        if rows > 0 { root = make(HeightRun(unmeasured: rows)) }
    }

    // MARK: Lookup

    /// Returns the run that contains `row`, the row's index in that run, and the totals of all preceding runs.
    func locate(row: Int) -> (run: HeightRun, place: Int, before: Sum) {
        var (node, rowInRun, before) = (root, row, Sum())
        while true {
            let left = sum(nodes[Int(node)].left)
            if rowInRun < left.rows {
                node = nodes[Int(node)].left
                continue
            }
            rowInRun -= left.rows
            before = before + left
            let run = nodes[Int(node)].run
            if rowInRun < run.rows { return (run, rowInRun, before) }
            rowInRun -= run.rows
            before = before + Self.sum(of: run)
            node = nodes[Int(node)].right
        }
    }

    /// Returns the run at `offset` pixels, the remaining offset within it, and the number of rows before it.
    ///
    /// Unmeasured rows are `estimate` pixels high. Returns the last run if `offset` is past the end, `nil` if the tree
    /// is empty.
    func locate(offset: Double, estimate: Double) -> (run: HeightRun, rest: Double, rowsBefore: Int)? {
        func pixels(_ sum: Sum) -> Double { Double(sum.pixels) + Double(sum.rows - sum.measured) * estimate }
        guard root != Self.none else { return nil }
        var (node, rest, rows) = (root, offset, 0)
        while true {
            let (left, right) = (nodes[Int(node)].left, nodes[Int(node)].right)
            let above = pixels(sum(left))
            if rest < above {
                node = left
                continue
            }
            rest -= above
            rows += sum(left).rows
            let run = nodes[Int(node)].run
            let height = pixels(Self.sum(of: run))
            if rest < height || right == Self.none { return (run, rest, rows) }
            rest -= height
            rows += run.rows
            node = right
        }
    }

    /// The row range of the first or last measured run.
    func measuredRun(last: Bool) -> Range<Int>? {
        guard sum.measured > 0 else { return nil }
        var (node, start) = (root, 0)
        while true {
            let (left, right, run) = (nodes[Int(node)].left, nodes[Int(node)].right, nodes[Int(node)].run)
            let middle = start + sum(left).rows
            let (near, far) = last ? (right, left) : (left, right)
            let next: Reference
            if sum(near).measured > 0 {
                next = near
            } else if run.isMeasured {
                return middle..<(middle + run.rows)
            } else {
                next = far
            }
            if next == right { start = middle + run.rows }
            node = next
        }
    }

    // MARK: Mutation

    /// Inserts `run` before `row`.
    mutating func insert(_ run: HeightRun, at row: Int) {
        let (before, after) = split(root, at: row)
        let node = make(run)
        root = join(join(before, node), after)
    }

    /// Removes `rows` and inserts `replacement`, if any, in their place.
    mutating func replace(_ rows: Range<Int>, by replacement: HeightRun?) {
        let (before, rest) = split(root, at: rows.lowerBound)
        let (removed, after) = split(rest, at: rows.count)
        release(removed)
        root =
            replacement.map { run in
                let node = make(run)
                return join(join(before, node), after)
            } ?? join(before, after)
    }

    /// Changes the height of a measured row, in pixels.
    mutating func set(row: Int, to height: Int) {
        let (run, rowInRun, _) = locate(row: row)
        let change = height - run.height(at: rowInRun)
        var (node, rest) = (root, row)
        while true {
            nodes[Int(node)].sum.pixels += change
            let left = sum(nodes[Int(node)].left).rows
            if rest < left {
                node = nodes[Int(node)].left
                continue
            }
            rest -= left
            if rest < nodes[Int(node)].run.rows { return nodes[Int(node)].run.set(rest, to: height) }
            rest -= nodes[Int(node)].run.rows
            node = nodes[Int(node)].right
        }
    }

    // MARK: Treap

    private static func sum(of run: HeightRun) -> Sum {
        Sum(rows: run.rows, measured: run.isMeasured ? run.rows : 0, pixels: run.pixels)
    }

    private func sum(_ node: Reference) -> Sum { node == Self.none ? Sum() : nodes[Int(node)].sum }

    private mutating func update(_ node: Reference) {
        let (left, right) = (nodes[Int(node)].left, nodes[Int(node)].right)
        nodes[Int(node)].sum = sum(left) + Self.sum(of: nodes[Int(node)].run) + sum(right)
    }

    private mutating func make(_ run: HeightRun) -> Reference {
        // xorshift32: good enough for treap priorities.
        seed ^= seed << 13
        seed ^= seed >> 17
        seed ^= seed << 5
        let node = Node(run: run, priority: seed, sum: Self.sum(of: run))
        if let reference = free.popLast() {
            nodes[Int(reference)] = node
            return reference
        }
        nodes.append(node)
        return Reference(nodes.count - 1)
    }

    private mutating func release(_ node: Reference) {
        guard node != Self.none else { return }
        let (left, right) = (nodes[Int(node)].left, nodes[Int(node)].right)
        nodes[Int(node)].run = HeightRun(unmeasured: 0)
        free.append(node)
        release(left)
        release(right)
    }

    private mutating func split(_ node: Reference, at row: Int) -> (Reference, Reference) {
        guard node != Self.none else { return (Self.none, Self.none) }
        let before = sum(nodes[Int(node)].left).rows
        let run = nodes[Int(node)].run
        if row <= before {
            let (first, second) = split(nodes[Int(node)].left, at: row)
            nodes[Int(node)].left = second
            update(node)
            return (first, node)
        }
        let (first, second): (Reference, Reference)
        if row >= before + run.rows {
            (first, second) = split(nodes[Int(node)].right, at: row - before - run.rows)
        } else {
            let halves = run.split(at: row - before)
            nodes[Int(node)].run = halves.0
            let rest = make(halves.1)
            (first, second) = (Self.none, merge(rest, nodes[Int(node)].right))
        }
        nodes[Int(node)].right = first
        update(node)
        return (node, second)
    }

    /// Concatenates two sequences, and merges the runs at the seam if possible.
    private mutating func join(_ first: Reference, _ second: Reference) -> Reference {
        guard first != Self.none, second != Self.none else { return first == Self.none ? second : first }
        guard nodes[Int(outermost(first, right: true))].run.canJoin(nodes[Int(outermost(second, right: false))].run)
        else { return merge(first, second) }
        let (before, last) = detachLast(first)
        let (next, after) = detachFirst(second)
        let run = nodes[Int(next)].run
        nodes[Int(last)].run.append(run)
        release(next)
        update(last)
        return merge(merge(before, last), after)
    }

    private mutating func merge(_ first: Reference, _ second: Reference) -> Reference {
        guard first != Self.none, second != Self.none else { return first == Self.none ? second : first }
        if nodes[Int(first)].priority > nodes[Int(second)].priority {
            nodes[Int(first)].right = merge(nodes[Int(first)].right, second)
            update(first)
            return first
        }
        nodes[Int(second)].left = merge(first, nodes[Int(second)].left)
        update(second)
        return second
    }

    private func outermost(_ node: Reference, right: Bool) -> Reference {
        var node = node
        while true {
            let next = right ? nodes[Int(node)].right : nodes[Int(node)].left
            if next == Self.none { return node }
            node = next
        }
    }

    private mutating func detachLast(_ node: Reference) -> (rest: Reference, last: Reference) {
        guard nodes[Int(node)].right != Self.none else {
            let rest = nodes[Int(node)].left
            nodes[Int(node)].left = Self.none
            update(node)
            return (rest, node)
        }
        let (rest, last) = detachLast(nodes[Int(node)].right)
        nodes[Int(node)].right = rest
        update(node)
        return (node, last)
    }

    private mutating func detachFirst(_ node: Reference) -> (first: Reference, rest: Reference) {
        guard nodes[Int(node)].left != Self.none else {
            let rest = nodes[Int(node)].right
            nodes[Int(node)].right = Self.none
            update(node)
            return (node, rest)
        }
        let (first, rest) = detachFirst(nodes[Int(node)].left)
        nodes[Int(node)].left = rest
        update(node)
        return (first, node)
    }
}
