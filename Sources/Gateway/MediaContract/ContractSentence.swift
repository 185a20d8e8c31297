import Settings

/// One sentence that lists every finding with what was measured and allowed, then every setting to change.
struct ContractSentence {
    var text: String

    /// OBS shows a few hundred characters.
    static let maximumLength = 600

    init(_ findings: [ContractFinding], of layers: PublishedLayers, rules: ContractSettings, family: EncoderFamily, isX264: Bool)
    {
        let advice = EncoderAdvice(family: family, isX264: isX264, hasLayers: layers.areSeveral, rules: rules)
        let found = layers.text(of: findings) { $0.words(under: rules) }
        var settings: [EncoderAdvice.Setting] = []
        // No encoder has a setting for how long it has been live.
        let curable = findings.map(\.fault).filter { $0.rule != .duration }
        for setting in curable.map(advice.setting(for:)) where !settings.contains(setting) { settings.append(setting) }
        let cure = settings.isEmpty ? "start the stream again" : advice.words(for: settings)
        // Layers' names have colons of their own.
        let whole = layers.areSeveral ? "\(found). \(cure.prefix(1).uppercased())\(cure.dropFirst())." : "\(found): \(cure)."
        text = String(whole.prefix(Self.maximumLength))
    }
}
