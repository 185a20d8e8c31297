import Settings

/// One sentence that lists every finding with what was measured and allowed, then every setting to change.
struct ContractSentence {
    var text: String

    /// OBS shows a few hundred characters.
    static let maximumLength = 600

    init(_ faults: [ContractFault], rules: ContractSettings, family: EncoderFamily, isX264: Bool) {
        let advice = EncoderAdvice(family: family, isX264: isX264, rules: rules)
        let found = faults.map { $0.words(under: rules) }.joined(separator: ", ")
        var settings: [String] = []
        for setting in faults.map(advice.setting(for:)) where !settings.contains(setting) { settings.append(setting) }
        let separator = family == .ffmpeg ? " " : ", "
        text = String("\(found): \(advice.place)\(settings.joined(separator: separator)).".prefix(Self.maximumLength))
    }
}
