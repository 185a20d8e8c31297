import AAC
import H264
import MP4
import Opus
import Testing
import Wire

@Suite("Initialization segments")
struct InitializationSegmentTests {
    static let sps: [UInt8] = [
        0x67, 0x42, 0xC0, 0x0D, 0xD9, 0x01, 0x41, 0xFB, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03, 0xC0,
        0xF1, 0x42, 0xA4, 0x80,
    ]
    static let pps: [UInt8] = [0x68, 0xCB, 0x83, 0xCB, 0x20]
    static let video = MovieTrack(
        id: 1, timescale: 15_360,
        description: .h264(
            AVCDecoderConfigurationRecord(sequenceParameterSet: sps, pictureParameterSet: pps), width: 320, height: 240))
    static let aac = MovieTrack(
        id: 2, timescale: 48_000, description: .aac(AudioSpecificConfig(lowComplexityAt: 48_000, channelCount: 2)!))
    static let opus = MovieTrack(id: 1, timescale: 48_000, description: .opus(OpusHead(channelCount: 1)))

    /// Boxes as ffmpeg 5.1 writes them (`-movflags frag_keyframe+empty_moov+default_base_moof`) of the same stream.
    @Test(arguments: [
        (
            "moov/trak/tkhd",
            "0000005c746b6864000000030000000000000000000000010000000000000000000000000000000000000000000000000001000000000000000000000000000000010000000000000000000000000000400000000140000000f00000"
        ),
        ("moov/trak/mdia/mdhd", "000000206d6468640000000000000000000000000000" + "3c000000000055c40000"),
        ("moov/trak/mdia/hdlr", "0000002d68646c72000000000000000076696465000000000000000000000000566964656f48616e646c657200"),
        ("moov/trak/mdia/minf/vmhd", "00000014766d6864000000010000000000000000"),
        ("moov/trak/mdia/minf/dinf", "0000002464696e660000001c6472656600000000000000010000000c75726c2000000001"),
        (
            "moov/trak/mdia/minf/stbl/stsd/avc1/avcC",
            "00000030617663430142c00dffe100186742c00dd90141fb0110000003001000000303c0f142a48001000568cb83cb20"
        ),
        ("moov/trak/mdia/minf/stbl/stts", "00000010737474730000000000000000"),
        ("moov/trak/mdia/minf/stbl/stsz", "000000147374737a000000000000000000000000"),
        (
            "moov/trak[1]/tkhd",
            "0000005c746b6864000000030000000000000000000000020000000000000000000000000000000000000001010000000001000000000000000000000000000000010000000000000000000000000000400000000000000000000000"
        ),
        ("moov/trak[1]/mdia/minf/smhd", "00000010736d68640000000000000000"),
        (
            "moov/mvex",
            "000000486d7665780000002074726578000000000000000100000001000000000000000000000000"
                + "0000002074726578000000000000000200000001000000000000000000000000"
        ),
    ])
    func `are as ffmpeg writes them`(_ path: String, _ hexadecimal: String) {
        let tree = BoxTree(InitializationSegment(tracks: [Self.video, Self.aac]).bytes)
        #expect(tree.box(path).map { String(hexadecimal: $0) } == hexadecimal)
    }

    @Test
    func `describe AAC by the encoder's own configuration`() {
        let tree = BoxTree(InitializationSegment(tracks: [Self.video, Self.aac]).bytes)
        let entry = tree.box("moov/trak[1]/mdia/minf/stbl/stsd/mp4a").map { String(hexadecimal: $0.prefix(36)) }
        #expect(entry == "000000576d703461" + "000000000000000100000000000000000002001000000000bb800000")
        // Tags and lengths as ffmpeg writes them; rates are unknown here, and the configuration has two bytes.
        #expect(
            tree.box("moov/trak[1]/mdia/minf/stbl/stsd/mp4a/esds").map { String(hexadecimal: $0) }
                == "0000003365736473" + "00000000" + "03808080220002" + "00" + "0480808014" + "401500000000000000000000" + "00"
                + "05808080021190" + "06808080" + "0102")
    }

    @Test
    func `describe Opus in network byte order, as ffmpeg does`() {
        let tree = BoxTree(InitializationSegment(tracks: [Self.opus]).bytes)
        #expect(
            tree.box("moov/trak/mdia/minf/stbl/stsd/Opus/dOps").map { String(hexadecimal: $0) }
                == "00000013644f7073000101380000bb80000000")
    }

    @Test
    func `say chroma format and depth of High profiles`() throws {
        // x264's High at 320x240.
        let sps = try #require([UInt8](hexadecimal: "6764000dacd94141fb0110000003001000000303c0f1429960"))
        let record = AVCDecoderConfigurationRecord(sequenceParameterSet: sps, pictureParameterSet: Self.pps)
        let track = MovieTrack(id: 1, timescale: 90_000, description: .h264(record, width: 320, height: 240))
        let box = BoxTree(InitializationSegment(tracks: [track]).bytes).box("moov/trak/mdia/minf/stbl/stsd/avc1/avcC")
        #expect(box.map { String(hexadecimal: $0.suffix(4)) } == "fdf8f800")
    }

    @Test
    func `name their codecs as players know them`() {
        #expect(InitializationSegment(tracks: [Self.video, Self.aac]).codecs == "avc1.42c00d,mp4a.40.2")
        #expect(InitializationSegment(tracks: [Self.opus]).codecs == "opus")
    }

    @Test
    func `hold nothing but ftyp and moov`() {
        #expect(BoxTree(InitializationSegment(tracks: [Self.video, Self.opus]).bytes).types == ["ftyp", "moov"])
    }
}
