import Composer
import JSONReading

extension ReplayPlayer {
    static let completionVerbs: [String: Action] = [
        "results": { player, argument in
            let fields = try argument.object(required: ["query", "entities"], optional: ["final"])
            let id = try player.queryID(fields["query"])
            let entities = try fields["entities"].array().map { try entity($0) }
            let isFinal = try fields.optional("final")?.bool() ?? true
            player.handle(.completionResults(query: id, entities, isFinal: isFinal))
        },
        "fail": { player, argument in
            let fields = try argument.object(required: ["query"])
            player.handle(.completionFailed(query: try player.queryID(fields["query"])))
        },
        "accept": { player, argument in
            if case .object = argument.value {
                let fields = try argument.object(required: ["entity"])
                return player.handle(.acceptEntity(try entity(fields["entity"])))
            }
            let row = try argument.integer()
            guard player.engine.completion?.items.indices.contains(row) ?? false else {
                throw ReplayError("no row there")
            }
            player.handle(.acceptCompletion(row))
        },
        "complete": { player, argument in
            let prefix = try argument.string()
            let options = player.engine.configuration.completion
            guard options.rules.contains(where: { $0.prefix == prefix }) || options.controlCharacters.contains(prefix)
            else { throw ReplayError("no prefix \"\(prefix)\" is registered") }
            player.handle(.complete(prefix))
        },
        "cancelCompletion": { player, argument in
            try argument.requireTrue()
            player.handle(.cancelCompletion)
        },
    ]

    /// Parses the identifier of a query that has been issued, even if it is stale.
    private func queryID(_ argument: Argument) throws -> String {
        let id = try argument.string()
        guard issuedQueries.contains(id) else { throw ReplayError("no query \"\(id)\" was issued") }
        return id
    }

    private static func entity(_ argument: Argument) throws -> CompletionEntity {
        let fields = try argument.object(
            required: ["id", "name"], optional: ["short", "detail", "replacement"])
        return CompletionEntity(
            id: try fields["id"].string(), name: try fields["name"].string(),
            short: try fields.optional("short")?.string(), detail: try fields.optional("detail")?.string(),
            replacement: try fields.optional("replacement")?.string())
    }
}
