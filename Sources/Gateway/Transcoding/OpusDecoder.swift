import COpus

/// libopus's decoder at 48 kHz. Confined to one transcoding thread.
@safe final class OpusDecoder {
    /// Samples of a channel in the longest packet, of 120 ms (RFC 6716 §2.1.4).
    static let maximumSampleCount = 5_760

    private let decoder: OpaquePointer
    private let channelCount: Int

    /// - Throws: `.unsupportedConfiguration`.
    init(channelCount: Int) throws(TranscodingError) {
        var status: CInt = 0
        guard let decoder = unsafe opus_decoder_create(Int32(AudioAlignment.ticksPerSecond), CInt(channelCount), &status) else {
            throw .unsupportedConfiguration
        }
        unsafe (self.decoder, self.channelCount) = unsafe (decoder, channelCount)
    }

    deinit { unsafe opus_decoder_destroy(decoder) }

    /// Appends what a packet holds, interleaved; returns how many samples of a channel that are, 0 for what cannot be decoded.
    func decode(_ packet: UnsafeRawBufferPointer, into output: inout [Float]) -> Int {
        let bytes = unsafe packet.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return unsafe decode(bytes, byteCount: packet.count, room: Self.maximumSampleCount, into: &output)
    }

    /// Appends what may have stood in packets that did not come.
    /// - Parameter count: samples of a channel, a multiple of 2.5 ms.
    func conceal(_ count: Int, into output: inout [Float]) {
        var rest = count
        while rest > 0 {
            let made = unsafe decode(nil, byteCount: 0, room: min(rest, Self.maximumSampleCount), into: &output)
            guard made > 0 else { return output.append(contentsOf: repeatElement(0, count: rest * channelCount)) }
            rest -= made
        }
    }

    private func decode(_ bytes: UnsafePointer<UInt8>?, byteCount: Int, room: Int, into output: inout [Float]) -> Int {
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: room * channelCount))
        let count = unsafe output.withUnsafeMutableBufferPointer { buffer in
            guard let samples = buffer.baseAddress else { return CInt(0) }
            return unsafe opus_decode_float(decoder, bytes, Int32(byteCount), samples + start, CInt(room), 0)
        }
        let made = max(0, Int(count))
        output.removeLast((room - made) * channelCount)
        return made
    }
}
