import ToolSupport

/// A server that performs each transaction once, behind a network with all kinds of faults.
struct UnreliableServer {
    enum Fault: CaseIterable {
        case lostRequest, lostResponse, repeatedRequest, repeatedResponse, lateRequest, busy
    }

    private struct Request: Hashable {
        let room: Int
        let transaction: Int
    }

    /// The transactions of each room in the order in which they were performed.
    private(set) var rooms: [[Int]]
    private(set) var faults: [Fault: Int] = [:]
    private var processed: Set<Request> = []
    /// Delayed requests, which the sender has given up.
    private var late: [Request] = []
    private var random: SeededGenerator

    var faultCount: Int { faults.values.reduce(0, +) }

    init(rooms: Int, seed: UInt64) {
        self.rooms = Array(repeating: [], count: rooms)
        random = SeededGenerator(seed: seed)
    }

    /// - Returns: The responses that the sender gets, in order.
    mutating func hear(call: Int, room: Int, transaction: Int) -> [String] {
        if Int.random(in: 0..<3, using: &random) == 0, !late.isEmpty {
            perform(late.remove(at: Int.random(in: 0..<late.count, using: &random)))
        }
        let request = Request(room: room, transaction: transaction)
        guard Int.random(in: 0..<10, using: &random) < 3, let fault = Fault.allCases.randomElement(using: &random)
        else {
            perform(request)
            return ["ok \(call) \(transaction)"]
        }
        faults[fault, default: 0] += 1
        switch fault {
        case .lostRequest: return ["lost \(call) 0"]
        case .lostResponse:
            perform(request)
            return ["lost \(call) 0"]
        case .repeatedRequest:
            perform(request)
            perform(request)
            return ["ok \(call) \(transaction)"]
        case .repeatedResponse:
            perform(request)
            return ["ok \(call) \(transaction)", "lost \(call) 0", "ok \(call) \(transaction)"]
        case .lateRequest:
            late.append(request)
            return ["lost \(call) 0"]
        case .busy: return ["busy \(call) \(Int.random(in: 1...3000, using: &random))"]
        }
    }

    private mutating func perform(_ request: Request) {
        if processed.insert(request).inserted { rooms[request.room].append(request.transaction) }
    }
}
