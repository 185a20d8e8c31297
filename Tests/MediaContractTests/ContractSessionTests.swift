import H264
import MediaContract
import Refusals
import Settings
import TestSupport
import Testing
import Wire

@Suite("ContractSession")
struct ContractSessionTests {
    private let publisher = ContractPublisher(credential: "abc", source: .loopback, product: "FMLE/3.0 (compatible; FMSc/1.0)")

    private func publish(
        _ stream: SyntheticStream, at context: ContractContext, from start: Double, pictures: Int = 90,
        _ prepare: (ContractSession) -> Void = { _ in }, onWarning: @escaping (ContractWarning) -> Void = { _ in }
    ) -> (session: ContractSession, refusal: Refusal?) {
        let session = ContractSession(context: context, ingest: .whip, publisher: publisher, onWarning: onWarning)
        prepare(session)
        for number in 0..<pictures {
            let time = start + Double(number) / 30
            for (index, unit) in stream.accessUnit(number).enumerated() {
                let refusal = unit.withUnsafeBytes {
                    session.videoPayload(
                        found(inPayload: $0), sequenceNumber: Int64(number * 4 + index), timestamp: Int64(number * 3_000),
                        arrival: moment(time))
                }
                if refusal != nil { return (session, refusal) }
            }
        }
        return (session, nil)
    }

    private func found(inPayload payload: UnsafeRawBufferPointer) -> NALUnitList {
        var found = NALUnitList()
        found.find(inPayload: payload)
        return found
    }

    private func moment(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test
    func `what ended a stream is told once more, then the next one is judged on its own`() {
        let context = ContractContext()
        var stream = SyntheticStream()
        stream.sliceType = { $0 % 3 == 0 ? 5 : 6 }
        let ended = publish(stream, at: context, from: 10)
        #expect(ended.refusal?.code == .bFrames)
        #expect(ended.session.faults.map(\.rule) == [.bFrames])
        #expect(context.rememberedRefusal(for: publisher, at: moment(12)) == ended.refusal)
        #expect(context.rememberedRefusal(for: publisher, at: moment(14)) == nil)
        #expect(publish(SyntheticStream(), at: context, from: 14).refusal == nil)
    }

    @Test
    func `new rules reach live publishes within a tick, and forget what was remembered`() {
        let context = ContractContext()
        let live = publish(SyntheticStream(), at: context, from: 10)
        var rules = ContractSettings()
        rules.maximumResolution.limit = 1_000
        context.apply(rules)
        #expect(live.session.timePassed(moment(14)) == nil)
        let refusal = SyntheticStream().accessUnit(1)[0].withUnsafeBytes {
            live.session.videoPayload(found(inPayload: $0), sequenceNumber: 1_000, timestamp: 300_000, arrival: moment(14))
        }
        #expect(refusal == nil)
        #expect(live.session.timePassed(moment(17))?.code == .resolutionExceeded)
        context.apply(ContractSettings())
        #expect(context.rememberedRefusal(for: publisher, at: moment(18)) == nil)
    }

    @Test
    func `a layer is named as its publication calls it, to the next attempt too`() {
        let context = ContractContext()
        let session = ContractSession(context: context, ingest: .whip, publisher: publisher)
        session.layerNames = [0: "low", 1: "hi"]
        var small = SyntheticStream()
        (small.sps.width, small.sps.height, small.sps.profileIDC) = (320, 180, 77)
        var refusal: Refusal?
        for number in 0..<90 {
            for (layer, stream) in [(0, small), (1, SyntheticStream())] as [(UInt8, SyntheticStream)] {
                for (index, unit) in stream.accessUnit(number).enumerated() where refusal == nil {
                    refusal = unit.withUnsafeBytes {
                        session.videoPayload(
                            found(inPayload: $0), layer: layer, sequenceNumber: Int64(number * 4 + index),
                            timestamp: Int64(number * 3_000), arrival: moment(10 + Double(number) / 30))
                    }
                }
            }
        }
        #expect(refusal?.sentence.hasPrefix("layer low (320x180): Main profile (allowed: baseline). In OBS ") == true)
        #expect(session.faults.map(\.rule) == [.videoProfile])
        #expect(context.rememberedRefusal(for: publisher, at: moment(14)) == refusal)
        #expect(context.rememberedRefusal(for: publisher, at: moment(15)) == nil)
    }

    @Test
    func `a day's end is not remembered`() {
        let context = ContractContext()
        let live = publish(SyntheticStream(), at: context, from: 10)
        #expect(live.session.timePassed(moment(10 + 86_400))?.code == .durationExceeded)
        #expect(context.rememberedRefusal(for: publisher, at: moment(10 + 86_401)) == nil)
    }

    @Test
    func `an encoder that heeds no request is warned of its long keyframe interval, and told once more at its next attempt`() {
        let context = ContractContext()
        var stream = SyntheticStream()
        stream.keyframeInterval = 250
        var warnings: [ContractWarning] = []
        let asked = publish(stream, at: context, from: 10, pictures: 520, onWarning: { warnings.append($0) })
        #expect(asked.refusal == nil && warnings.isEmpty, "who sends a keyframe when asked may take its time")
        let deaf = publish(stream, at: context, from: 10, pictures: 520) {
            $0.keyframesCannotBeRequested()
        } onWarning: {
            warnings.append($0)
        }
        #expect(deaf.refusal == nil)
        let words = "keyframe every 8.3 s (at most 2): in OBS (Settings > Output, mode Advanced) set Keyframe Interval = 2 s."
        #expect(warnings.map(\.sentence) == [words])
        #expect(context.rememberedRefusal(for: publisher, at: moment(40)) == nil, "it is no reason to refuse")
        #expect(context.rememberedWarning(for: publisher, at: moment(40)) == words)
        #expect(context.rememberedWarning(for: publisher, at: moment(41)) == nil)
    }

    @Test
    func `a warning is forgotten when the encoder has changed, and after an hour`() {
        var mended = publisher
        mended.product += " other"
        for (other, time) in [(mended, 40.0), (publisher, 3_700)] {
            let context = ContractContext()
            var stream = SyntheticStream()
            stream.keyframeInterval = 250
            _ = publish(stream, at: context, from: 10, pictures: 520) { $0.keyframesCannotBeRequested() }
            #expect(context.rememberedWarning(for: other, at: moment(time)) == nil)
        }
    }

    @Test
    func `warnings come by the way`() {
        let context = ContractContext()
        var rules = ContractSettings()
        rules[.bFrames] = .warn
        context.apply(rules)
        var warnings: [ContractWarning] = []
        let session = ContractSession(context: context, ingest: .rtmp, publisher: publisher) { warnings.append($0) }
        let slice = SliceBuilder(type: 6).bytes
        let unit: [UInt8] = [0, 0, 0, UInt8(slice.count)] + slice
        var found = NALUnitList()
        for index in 0..<100 {
            let time = Int64(33 * index)
            let refusal = unit.withUnsafeBytes {
                found.find(inAccessUnit: $0, lengthSize: 4)
                return session.accessUnit(found, timestamp: time * 90, arrival: moment(1) + .milliseconds(time))
            }
            #expect(refusal == nil)
        }
        #expect(warnings.map(\.fault.rule) == [.bFrames])
        #expect(warnings[0].sentence.contains("OBS"))
    }
}
