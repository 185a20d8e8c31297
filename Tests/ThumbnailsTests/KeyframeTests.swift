import CTurboJPEG
import Dispatch
import EventLoop
import GatewayMetrics
import TestSupport
import Testing

@testable import Thumbnails

@Suite("Thumbnails of keyframes")
struct KeyframeTests {
    /// 32 by 32 pixels of red, by x264: sequence and picture parameter set, an IDR slice.
    private static let red: [UInt8] = [
        0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x0A, 0xD9, 0x09, 0x6C, 0x04, 0x40, 0, 0, 3, 0, 0x40, 0, 0, 3, 0, 0x83, 0xC4, 0x89, 0x92,
        0, 0, 0, 1, 0x68, 0xCB, 0x81, 0xB2, 0xC8,
        0, 0, 1, 0x65, 0x88, 0x84, 0x3F, 0x11, 0x8A, 0, 2, 0x25, 0xB1, 0xC0, 0, 0x42, 0x2E, 0x38, 0, 8, 0xEE, 0x49, 0xD7, 0x5E,
    ]
    /// The same in the colours of high definition (BT.709), and saying so.
    private static let redBT709: [UInt8] = [
        0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x0A, 0xD9, 0x09, 0x6C, 0x05, 0xA8, 0x08, 0x08, 0x0A, 0, 0, 3, 0, 2, 0, 0, 3, 0, 4, 0x1E,
        0x24, 0x4C, 0x90,
        0, 0, 0, 1, 0x68, 0xCB, 0x81, 0xB2, 0xC8,
        0, 0, 1, 0x65, 0x88, 0x84, 0x3F, 0x11, 0x8A, 0, 2, 0x35, 0xB1, 0xC0, 0, 0x41, 0x56, 0x38, 0, 8, 0xEE, 0x49, 0xD7, 0x5E,
    ]

    private func jpeg(_ unit: [UInt8]) throws -> [UInt8]? {
        let encoder = try #require(JPEGEncoder())
        return KeyframeDecoder.decode(unit) { encoder.encode($0) }
    }

    /// What a browser would show in the middle, and the picture's size.
    private func look(_ jpeg: [UInt8]) throws -> (width: Int, height: Int, middle: [Int]) {
        let handle = try #require(tjInitDecompress())
        defer { tjDestroy(handle) }
        var (width, height, subsampling, colours): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
        #expect(tjDecompressHeader3(handle, jpeg, UInt(jpeg.count), &width, &height, &subsampling, &colours) == 0)
        var pixels = [UInt8](repeating: 0, count: 3 * Int(width) * Int(height))
        let status = tjDecompress2(
            handle, jpeg, UInt(jpeg.count), &pixels, width, 0, height, CInt(TJPF_RGB.rawValue), 0)
        #expect(status == 0)
        let middle = 3 * (Int(height) / 2 * Int(width) + Int(width) / 2)
        return (Int(width), Int(height), pixels[middle..<middle + 3].map(Int.init))
    }

    @Test(arguments: [red, redBT709])
    func `a JPEG has the picture's size and its colours, whichever they were coded in`(unit: [UInt8]) throws {
        let seen = try look(try #require(try jpeg(unit)))
        #expect(seen.width == 32 && seen.height == 32)
        #expect(seen.middle[0] > 240 && seen.middle[1] < 15 && seen.middle[2] < 15, "\(seen.middle)")
    }

    private static func keyframe(_ size: String) throws -> [UInt8] {
        try FFmpeg.output([
            "-f", "lavfi", "-i", "testsrc2=s=\(size):r=1", "-frames:v", "1", "-c:v", "libx264", "-pix_fmt", "yuv420p",
            "-profile:v", "baseline", "-f", "h264", "-",
        ])
    }

    @Test(arguments: ["1280x720", "720x1280", "160x90", "4096x2304"])
    func `pictures come in every size`(size: String) throws {
        let seen = try look(try #require(try jpeg(Self.keyframe(size))))
        #expect("\(seen.width)x\(seen.height)" == size)
    }

    @Test(arguments: ["4112x2304", "4096x2320"])
    func `a picture larger than level 5.1 allows is not decoded`(size: String) throws {
        let unit = try Self.keyframe(size)
        #expect(try jpeg(unit) == nil)
    }

    @Test
    func `what is no picture makes none, wherever it is cut or changed`() throws {
        for count in 0..<Self.red.count - 8 {
            // Where the slice has begun libavcodec may make up what is missing: it says so, or makes nothing.
            _ = try jpeg(Array(Self.red.prefix(count)))
        }
        #expect(try jpeg([]) == nil)
        #expect(try jpeg(Array(Self.red.prefix(31))) == nil, "no slice")
        #expect(try jpeg([UInt8](repeating: 0xFF, count: 5_000)) == nil)
        for index in Self.red.indices {
            var changed = Self.red
            changed[index] ^= 0x55
            _ = try jpeg(changed)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `what there is no room for is left out, and everything that was taken is answered`() throws {
        let thumbnailer = try Thumbnailer(metrics: MetricsRegistry())
        let answers = Lock(0)
        // The thread stands still in its first answer until the box has been filled.
        let gate = DispatchSemaphore(value: 0)
        var taken = 0
        for _ in 0..<3 * Thumbnailer.maximumWaiting {
            let isTaken = thumbnailer.make(Self.red) { jpeg in
                gate.wait()
                gate.signal()
                if jpeg != nil { answers.withLock { $0 += 1 } }
            }
            if isTaken { taken += 1 }
        }
        #expect((Thumbnailer.maximumWaiting...Thumbnailer.maximumWaiting + 1).contains(taken))
        gate.signal()
        thumbnailer.stop()
        #expect(answers.withLock { $0 } == taken)
    }
}
