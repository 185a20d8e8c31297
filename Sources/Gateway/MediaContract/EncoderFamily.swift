/// Which program encodes, as far as its flashVer or User-Agent tells: settings have other names in each.
public enum EncoderFamily: String, Sendable, CaseIterable {
    case obs, ffmpeg, vMix, larix, ivsSDK, gStreamer, wirecast, browser, unknown

    /// - Parameter product: flashVer of RTMP's `connect`, or the User-Agent header.
    public init(product: String) {
        let product = Array(product.lowercased().utf8)
        let family = Self.marks.first { mark, _ in Self.contains(product, mark.utf8) }
        self = family?.1 ?? .unknown
    }

    /// By bytes: the library's search by characters would be an eighth of a publish's whole set-up.
    private static func contains(_ text: [UInt8], _ mark: String.UTF8View) -> Bool {
        text.indices.contains { text[$0...].starts(with: mark) }
    }

    /// In this order: OBS and browsers both say Mozilla, ffmpeg and OBS both say FMLE/3.0.
    private static let marks: [(String, EncoderFamily)] = [
        ("obs-studio", .obs), ("fmsc/1.0", .obs), ("lavf", .ffmpeg), ("ffmpeg", .ffmpeg), ("vmix", .vMix), ("larix", .larix),
        ("softvelum", .larix), ("ivs", .ivsSDK), ("gstreamer", .gStreamer), ("wirecast", .wirecast),
        ("mozilla/", .browser),
    ]
}
