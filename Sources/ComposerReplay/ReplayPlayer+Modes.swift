import Composer

extension ReplayPlayer {
    static let modeVerbs: [String: Action] = [
        "edit": { player, argument in
            let fields = try argument.object(required: ["id", "text"], optional: ["mentions"])
            player.handle(.startEdit(id: try fields["id"].string(), try content(fields).written))
        },
        "commitEdit": { player, argument in
            try argument.requireTrue()
            player.handle(.commitEdit)
        },
        "cancelEdit": { player, argument in
            try argument.requireTrue()
            player.handle(.cancelEdit)
        },
        "send": { player, argument in
            try argument.requireTrue()
            player.handle(.send)
        },
        "sendAccepted": { player, argument in player.handle(.sendAccepted(try player.pendingID(argument))) },
        "sendFailed": { player, argument in player.handle(.sendFailed(try player.pendingID(argument))) },
    ]

    private func pendingID(_ argument: Argument) throws -> String {
        let id = try argument.string()
        guard engine.isPending(id) else { throw ReplayError("no message \"\(id)\" is being sent") }
        return id
    }
}
