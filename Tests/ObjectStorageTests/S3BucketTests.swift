import Foundation
import HTTPClient
import Settings
import Testing
import Wire

@testable import ObjectStorage

@Suite("Requests to a bucket")
struct S3BucketTests {
    @Test func `an object of any length may come as slowly as it may go, and neither way stands still`() throws {
        var settings = StorageSettings()
        (settings.endpoint, settings.accessKey, settings.secretKey) = ("http://127.0.0.1:1", "A", Secret("s"))
        let bucket = try S3Bucket(settings, name: "b")
        let (now, length) = (WallTime(secondsSince1970: 1_704_110_455), 1 << 20)
        let object = StoredObject(key: "k", contentType: "", content: .bytes([UInt8](repeating: 0, count: length)))
        let (coming, going) = (bucket.get(key: "k", atMost: length, now: now), try bucket.put(object, hasACL: false, now: now))
        #expect(coming.deadline == .seconds(94) && going.deadline == .seconds(94))
        #expect(coming.pace?.bytesPerSecond == 16 * 1024 && coming.pace?.within == .seconds(30))
        #expect(going.pace?.bytesPerSecond == 16 * 1024 && going.pace?.within == .seconds(60))
    }

    @Test(arguments: [
        (EMFILE, true), (ENFILE, true), (ENOMEM, true), (ENOSPC, true), (EIO, true), (ENOENT, false), (EACCES, false),
    ])
    func `what the system refuses is tried again where that may pass`(_ code: CInt, mayPass: Bool) {
        let isTransient = if case .transient = StorageFault.system("read", "1.mp4", code) { true } else { false }
        #expect(isTransient == mayPass)
    }
}
