public import ChatCore

extension VerificationEmoji {
    /// Returns the name in the user's language, to be read aloud.
    public func name(_ translator: Translator) -> String {
        let names = index < 32 ? Self.firstNames(translator) : Self.lastNames(translator)
        return names[index % 32]
    }

    private static func firstNames(_ translator: Translator) -> [String] {
        [
            translator("Dog"), translator("Cat"), translator("Lion"), translator("Horse"), translator("Unicorn"),
            translator("Pig"), translator("Elephant"), translator("Rabbit"), translator("Panda"),
            translator("Rooster"), translator("Penguin"), translator("Turtle"), translator("Fish"),
            translator("Octopus"), translator("Butterfly"), translator("Flower"), translator("Tree"),
            translator("Cactus"), translator("Mushroom"), translator("Globe"), translator("Moon"),
            translator("Cloud"), translator("Fire"), translator("Banana"), translator("Apple"),
            translator("Strawberry"), translator("Corn"), translator("Pizza"), translator("Cake"),
            translator("Heart"), translator("Smiley"), translator("Robot"),
        ]
    }

    private static func lastNames(_ translator: Translator) -> [String] {
        [
            translator("Hat"), translator("Glasses"), translator("Spanner"), translator("Santa"),
            translator("Thumbs Up"), translator("Umbrella"), translator("Hourglass"), translator("Clock"),
            translator("Gift"), translator("Light Bulb"), translator("Book"), translator("Pencil"),
            translator("Paperclip"), translator("Scissors"), translator("Lock"), translator("Key"),
            translator("Hammer"), translator("Telephone"), translator("Flag"), translator("Train"),
            translator("Bicycle"), translator("Aeroplane"), translator("Rocket"), translator("Trophy"),
            translator("Ball"), translator("Guitar"), translator("Trumpet"), translator("Bell"),
            translator("Anchor"), translator("Headphones"), translator("Folder"), translator("Pin"),
        ]
    }
}
