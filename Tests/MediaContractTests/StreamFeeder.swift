import AAC
import H264
import MediaContract
import Refusals
import Settings
import TestSupport
import Wire

/// Feeds a monitor with access units in the form of RTMP or of WHIP, on a clock of its own.
struct StreamFeeder {
    /// `mixed` draws lots for every NAL unit.
    enum Form: Sendable, CaseIterable { case accessUnits, singleUnits, aggregated, fragmented, mixed }

    var monitor: ContractMonitor
    var form: Form
    var frameRate = 30.0
    /// Milliseconds by which media and arrival stand apart.
    var arrivalOffset = 0.0
    private(set) var index = 0
    private(set) var news: [ContractNews] = []
    /// By the layer's place.
    private var sequenceNumbers = [Int64](repeating: 65_530, count: 256)
    private var generator: SplitMix64
    private var found = NALUnitList()

    /// - Parameter ingest: whose rules hold; by default those of the protocol that has this form.
    init(
        _ form: Form, rules: ContractSettings = ContractSettings(), ingest: ContractMonitor.Ingest? = nil, product: String = "",
        seed: UInt64 = 1, hasAudio: Bool = true
    ) {
        let usual: ContractMonitor.Ingest = form == .accessUnits ? .rtmp : .whip
        monitor = ContractMonitor(rules: rules, ingest: ingest ?? usual, product: product)
        self.form = form
        generator = SplitMix64(seed: seed)
        sendsAudio = hasAudio
    }

    private let sendsAudio: Bool

    var time: Double { Double(index) / frameRate }
    var moment: MediaMoment { moment(at: time) }

    func moment(at seconds: Double) -> MediaMoment {
        MediaMoment(
            mediaTime: Int64(seconds * 90_000),
            arrival: MonotonicTime(nanoseconds: 1_000_000_000 + Int64((seconds + arrivalOffset) * 1e9)))
    }

    var faults: [ContractFault] {
        news.flatMap { item -> [ContractFault] in if case .disconnect(_, let faults) = item { faults } else { [] } }
    }

    var warnings: [ContractWarning] {
        news.compactMap { if case .warning(let warning) = $0 { warning } else { nil } }
    }

    var sentence: String? {
        for case .disconnect(let refusal, _) in news { return refusal.sentence }
        return nil
    }

    /// One access unit, as its form has it, then the audio that goes with it.
    mutating func feed(_ units: [[UInt8]]) { feed(layers: [0: units]) }

    /// One access unit of each layer, in this order, then the audio that goes with them.
    mutating func feed(layers: KeyValuePairs<UInt8, [[UInt8]]>) {
        for (layer, units) in layers { feed(units, of: layer) }
        if sendsAudio {
            monitor.audioFrame(byteCount: 300, at: MediaMoment(mediaTime: Int64(time * 48_000), arrival: moment.arrival))
        }
        index += 1
        takeNews()
    }

    private mutating func feed(_ units: [[UInt8]], of layer: UInt8) {
        guard form == .accessUnits else {
            for payload in payloads(units) { feed(payload: payload, layer: layer) }
            return
        }
        let bytes = units.flatMap { unit in
            (0..<4).map { UInt8(truncatingIfNeeded: unit.count >> (24 - 8 * $0)) } + unit
        }
        let moment = moment
        bytes.withUnsafeBytes {
            found.find(inAccessUnit: $0, lengthSize: 4)
            monitor.accessUnit(found, layer: layer, at: moment)
        }
    }

    /// Each layer has a clock of its own.
    mutating func feed(payload: [UInt8], layer: UInt8 = 0) {
        sequenceNumbers[Int(layer)] += 1
        let number = sequenceNumbers[Int(layer)]
        var moment = moment
        moment.mediaTime += Int64(layer) * 3_000_000_019
        payload.withUnsafeBytes {
            found.find(inPayload: $0)
            monitor.rtpPayload(found, layer: layer, sequenceNumber: number, at: moment)
        }
    }

    mutating func lose(_ packets: Int64 = 1) { sequenceNumbers[0] += packets }

    /// One access unit in one packet, which the way loses.
    mutating func loseAccessUnit() {
        lose()
        index += 1
    }

    mutating func pass(_ seconds: Double) {
        monitor.timePassed(to: moment(at: time + seconds).arrival)
        takeNews()
    }

    mutating func takeNews() {
        if monitor.hasNews { news += monitor.takeNews() }
    }

    private mutating func payloads(_ units: [[UInt8]]) -> [[UInt8]] {
        switch form {
        case .accessUnits, .singleUnits: return units
        case .aggregated:
            var payloads: [[UInt8]] = []
            for unit in units {
                let isJoined = generator.next() % 2 == 0 && payloads.last?.first == 0x78
                if !isJoined { payloads.append([0x78]) }
                payloads[payloads.count - 1] += [UInt8(unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)] + unit
            }
            return payloads
        case .fragmented: return units.flatMap { fragments(of: $0) }
        case .mixed:
            return units.flatMap { unit -> [[UInt8]] in
                switch generator.next() % 3 {
                case 0: [unit]
                case 1: [[0x78, UInt8(unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)] + unit]
                default: fragments(of: unit)
                }
            }
        }
    }

    private mutating func fragments(of unit: [UInt8]) -> [[UInt8]] {
        let bodies = ByteFeeder.pieces(of: Array(unit.dropFirst()), seed: generator.next(), upTo: 1 + unit.count / 3)
        guard bodies.count > 1 else { return [unit] }
        return bodies.enumerated().map { position, body in
            let flags: UInt8 = position == 0 ? 0x80 : position == bodies.count - 1 ? 0x40 : 0
            return [unit[0] & 0xE0 | 28, flags | unit[0] & 0x1F] + body
        }
    }
}

/// A stream to be fed: parameter sets before every IDR, one slice a picture unless said otherwise.
struct SyntheticStream {
    var sps = SPSBuilder()
    var pps = PPSBuilder()
    var keyframeInterval = 60
    /// Slice type by picture number.
    var sliceType: @Sendable (Int) -> Int = { _ in 5 }
    /// First macroblocks of each picture's slices.
    var firstMacroblocks: [Int] = [0]
    var bytesPerPicture = 1_000
    var sei: [UInt8]?

    func accessUnit(_ number: Int) -> [[UInt8]] {
        let isIDR = number % keyframeInterval == 0
        var units: [[UInt8]] = isIDR ? [sps.bytes, pps.bytes] : []
        if isIDR, let sei { units.append(sei) }
        for first in firstMacroblocks {
            var slice = SliceBuilder(isIDR: isIDR, type: sliceType(number), byteCount: bytesPerPicture / firstMacroblocks.count)
            slice.firstMacroblock = first
            units.append(slice.bytes)
        }
        return units
    }

    /// x264's SEI with these settings.
    static func x264(_ settings: String) -> [UInt8] {
        let uuid: [UInt8] = [0xDC, 0x45, 0xE9, 0xBD, 0xE6, 0xD9, 0x48, 0xB7, 0x96, 0x2C, 0xD8, 0x20, 0xD9, 0x23, 0xEE, 0xEF]
        let body = uuid + Array("x264 - core 164 - options: \(settings)".utf8) + [0]
        return [6, 5, UInt8(body.count)] + body + [0x80]
    }
}
