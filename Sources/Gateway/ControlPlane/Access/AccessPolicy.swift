import Settings

/// What one access key may do: its lists, as a value. A denial wins.
struct AccessPolicy: Sendable {
    /// Why something is not done.
    enum Denial: Equatable {
        case readOnly
        case denied
        case notAllowed
        /// It concerns another stage, or no single one.
        case otherStage
    }

    /// An action that concerns no single stage.
    static let noStage = ""

    private let key: AccessKeySettings

    init(_ key: AccessKeySettings) { self.key = key }

    /// - Parameter stages: ARNs of all stages that it concerns; `noStage` alone or among them where it concerns more than those.
    ///   They are looked for only where that decides.
    func denial<E: Error>(of action: AccessAction, on stages: () throws(E) -> [String]) throws(E) -> Denial? {
        if key.deny.contains(where: { $0.matches(action.name) }) { return .denied }
        if key.readOnly, !action.isReading { return .readOnly }
        guard key.allow.contains(where: { $0.matches(action.name) }) else { return .notAllowed }
        if covers(Self.noStage) { return nil }
        let stages = try stages()
        return !stages.isEmpty && stages.allSatisfy(covers) ? nil : .otherStage
    }

    /// Whether it may be done on every stage.
    func allowsEverywhere(_ action: AccessAction) -> Bool { denial(of: action) { [Self.noStage] } == nil }

    private func covers(_ stageARN: String) -> Bool { key.resources.contains { $0.matches(stageARN) } }
}

extension APIError {
    /// In the words by which tools know a refusal of AWS.
    static func denied(_ action: AccessAction, _ denial: AccessPolicy.Denial) -> APIError {
        let reason =
            switch denial {
            case .readOnly: "it is read-only"
            case .denied: "its deny list names the action"
            case .notAllowed: "no entry of its allow list names the action"
            case .otherStage: "its resources do not include what the request is about"
            }
        return accessDenied("This access key is not authorized to perform: \(action.name), because \(reason).")
    }
}
