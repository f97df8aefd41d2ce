import Composer

extension ReplayPlayer {
    static let windowVerbs: [String: Action] = [
        "configure": { player, argument in
            let configuration = try OptionParser.configuration(argument)
            player = ReplayPlayer()
            player.engine = ComposerEngine(configuration: configuration)
        },
        "focus": { player, argument in player.handle(.focus(try argument.bool())) },
        "hide": { player, argument in player.handle(.hide(try argument.bool())) },
        "layout": { player, argument in
            let fields = try argument.object(required: ["windowHeight", "lineHeight"], optional: ["lines"])
            let lineHeight = try fields["lineHeight"].measure()
            guard lineHeight > 0 else { throw ReplayError.wrongArgument("a line height above 0") }
            let layout = ComposerLayout(
                windowHeight: try fields["windowHeight"].measure(), lineHeight: lineHeight,
                lines: try fields.optional("lines")?.count())
            player.handle(.layout(layout))
        },
        "peerTyping": { player, argument in
            let fields = try argument.object(required: ["name", "typing"])
            player.handle(.userTyping(name: try fields["name"].string(), try fields["typing"].bool()))
        },
        "advance": { player, argument in
            player.clock += .seconds(try argument.measure())
            player.record(player.engine.advance(to: player.clock))
        },
        "state": { _, argument in try argument.requireTrue() },
    ]
}
