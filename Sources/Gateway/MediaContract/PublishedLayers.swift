import H264

/// One element for each layer that a publish may have, by the layer's place. As many as in StageHub, which the contract does not
/// know.
typealias ByLayer<Element> = InlineArray<3, Element>

/// The layers of one publish whose pictures have been seen: how large they are, and what to call them.
struct PublishedLayers: Sendable {
    /// As the ingest ranks them; a layer without a name goes by its size alone.
    var names: [UInt8: String] = [:]
    private var sizes = ByLayer<PictureSize?>(repeating: nil)
    /// The places of those with a size, the largest first.
    private(set) var places: [UInt8] = []

    var areSeveral: Bool { places.count > 1 }
    var isEmpty: Bool { places.isEmpty }

    /// The largest one, by which minima are judged.
    var top: (place: UInt8, size: PictureSize)? {
        guard let place = places.first, let size = sizes[Int(place)] else { return nil }
        return (place, size)
    }

    /// Pictures of a layer have this size from now on.
    mutating func sized(_ place: UInt8, _ size: PictureSize) {
        sizes[Int(place)] = size
        places = sizes.indices.filter { sizes[$0] != nil }.map { UInt8($0) }.sorted { pixelCount($0) > pixelCount($1) }
    }

    private func pixelCount(_ place: UInt8) -> Int { sizes[Int(place)]?.pixelCount ?? 0 }
}

// MARK: - Words

extension PublishedLayers {
    /// `mid`, or else its size.
    func shortName(of place: UInt8) -> String { names[place] ?? size(of: place) }

    /// `mid (640x360)`.
    private func fullName(of place: UInt8) -> String {
        names[place].map { "\($0) (\(size(of: place)))" } ?? size(of: place)
    }

    private func size(of place: UInt8) -> String { sizes[Int(place)]?.description ?? "without pictures" }

    /// What was found, in one text. Where there are several layers it names those of each finding, and tells what some of them
    /// have in common once.
    func text(of findings: [ContractFinding], _ words: (ContractFault) -> String) -> String {
        guard areSeveral else { return findings.map { words($0.fault) }.joined(separator: ", ") }
        let shared = Self.grouped(findings) { words($0.fault) }
        let parts = Self.grouped(shared) { subject(of: $0.items) }
        return parts.map { $0.key + $0.items.map(\.key).joined(separator: ", ") }.joined(separator: "; ")
    }

    /// In the order in which keys come first.
    private static func grouped<Item>(_ items: [Item], by key: (Item) -> String) -> [(key: String, items: [Item])] {
        items.reduce(into: []) { groups, item in
            let key = key(item)
            if let index = groups.firstIndex(where: { $0.key == key }) {
                groups[index].items.append(item)
            } else {
                groups.append((key, [item]))
            }
        }
    }

    /// Whose fault it is: `layers hi (1280x720), mid (640x360): `.
    private func subject(of findings: [ContractFinding]) -> String {
        if findings.contains(where: { $0.fault.rule == .videoBitrate }) { return Self.sum }
        let places = places.filter { place in findings.contains { $0.layer == place } }
        guard !places.isEmpty else { return "" }
        return "layer\(places.count == 1 ? "" : "s") \(places.map(fullName).joined(separator: ", ")): "
    }

    /// Begins what is said about all layers together.
    static let sum = "all layers together: "
}
