/// The variable that overrides a key: `rtmp.maximumConnections` is STAGEDOOR_RTMP_MAXIMUM_CONNECTIONS.
enum EnvironmentName {
    static let prefix = "STAGEDOOR_"

    static func variable(for path: String) -> String { prefix + path.split(separator: ".").map(words).joined(separator: "_") }

    /// `maximumConnections` → `MAXIMUM_CONNECTIONS`, cut where a lower-case letter meets an upper-case one.
    static func words(_ component: some StringProtocol) -> String {
        var words = ""
        var previous: Character?
        for character in component {
            if let previous, previous.isLowercase, character.isUppercase { words.append("_") }
            words.append(character.isLetter || character.isNumber ? character : "_")
            previous = character
        }
        return words.uppercased()
    }
}
