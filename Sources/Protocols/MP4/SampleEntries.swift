import AAC
import H264
import Opus
import Wire

extension BoxWriter {
    /// The sample entry of a track (ISO/IEC 14496-12 §8.5.2).
    mutating func sampleEntry(_ track: MovieTrack) {
        switch track.description {
        case .h264(let record, let width, let height): visualEntry(record, width: width, height: height)
        case .aac(let configuration):
            audioEntry("mp4a", channelCount: configuration.channelCount ?? 2, sampleRate: configuration.sampleRate) {
                $0.elementaryStream(configuration, trackID: track.id)
            }
        case .opus(let head):
            audioEntry("Opus", channelCount: Int(head.channelCount), sampleRate: 48_000) { $0.opusSpecific(head) }
        }
    }

    /// §12.1.3.
    private mutating func visualEntry(_ record: AVCDecoderConfigurationRecord, width: Int, height: Int) {
        box("avc1") { entry in
            entry.writeZeros(6)
            entry.write(1 as UInt16)  // data_reference_index
            entry.writeZeros(16)
            entry.write(UInt16(clamping: width))
            entry.write(UInt16(clamping: height))
            entry.write(0x48_0000 as UInt32)  // 72 dpi
            entry.write(0x48_0000 as UInt32)
            entry.writeZeros(4)
            entry.write(1 as UInt16)  // frame_count
            entry.writeZeros(32)  // compressorname
            entry.write(24 as UInt16)  // depth
            entry.write(-1 as Int16)
            entry.box("avcC") { $0.write(contentsOf: record.boxContent) }
        }
    }

    /// §12.2.3.
    private mutating func audioEntry(
        _ type: StaticString, channelCount: Int, sampleRate: Int, _ specific: (inout BoxWriter) -> Void
    ) {
        box(type) { entry in
            entry.writeZeros(6)
            entry.write(1 as UInt16)  // data_reference_index
            entry.writeZeros(8)
            entry.write(UInt16(clamping: channelCount))
            entry.write(16 as UInt16)  // samplesize
            entry.writeZeros(4)
            // 16.16; a rate that does not fit is told by the codec's own configuration.
            entry.write(sampleRate <= Int(UInt16.max) ? UInt32(sampleRate) << 16 : 0)
            specific(&entry)
        }
    }

    /// `esds` (ISO/IEC 14496-14 §5.6, descriptors of ISO/IEC 14496-1 §7.2.6).
    private mutating func elementaryStream(_ configuration: AudioSpecificConfig, trackID: UInt32) {
        // At most 256 bytes of configuration: a length of four bytes holds every descriptor, as ffmpeg writes it.
        let bytes = configuration.bytesForDecoders
        let specific = bytes.count
        fullBox("esds") { esds in
            esds.descriptor(0x03, length: 3 + 18 + 5 + specific + 5 + 1)
            esds.write(UInt16(truncatingIfNeeded: trackID))
            esds.write(0 as UInt8)
            esds.descriptor(0x04, length: 13 + 5 + specific)
            esds.write(0x40 as UInt8)  // audio of ISO/IEC 14496-3
            esds.write(0x15 as UInt8)  // an audio stream
            esds.writeZeros(3 + 4 + 4)  // bufferSizeDB, maxBitrate, avgBitrate: unknown
            esds.descriptor(0x05, length: specific)
            esds.write(contentsOf: bytes)
            esds.descriptor(0x06, length: 1)
            esds.write(0x02 as UInt8)  // predefined for MP4
        }
    }

    private mutating func descriptor(_ tag: UInt8, length: Int) {
        write(tag)
        for shift in [21, 14, 7] { write(UInt8(0x80 | (length >> shift) & 0x7F)) }
        write(UInt8(length & 0x7F))
    }

    /// `dOps` (Encapsulation of Opus §4.3.2): OpusHead in network byte order.
    private mutating func opusSpecific(_ head: OpusHead) {
        box("dOps") { opus in
            opus.write(0 as UInt8)  // version
            opus.write(head.channelCount)
            opus.write(head.preSkip)
            opus.write(head.inputSampleRate)
            opus.write(head.outputGain)
            opus.write(0 as UInt8)  // mapping family: one or two channels
        }
    }
}

extension AVCDecoderConfigurationRecord {
    /// The record as `avcC` has it: High profiles say their chroma format and depths too (ISO/IEC 14496-15 §5.3.3.1.2).
    fileprivate var boxContent: [UInt8] {
        var writer = ByteWriter()
        write(into: &writer)
        guard [100, 110, 122, 144, 244].contains(profileIndication), let set = sequenceParameterSets.first,
            let parsed = unsafe try? SequenceParameterSet(parsing: set.span.bytes)
        else { return writer.bytes }
        let depth = 0xF8 | (parsed.bitDepthLuma - 8) & 7
        writer.write(contentsOf: [0xFC | parsed.chromaFormatIDC & 3, depth, depth, 0])
        return writer.bytes
    }
}
