import ObjectStorage
import Testing

@testable import Recording

@Suite("What of a recording is under way")
struct RecordingOutputTests {
    private static func object(_ key: String) -> StoredObject {
        StoredObject(key: key, contentType: "application/json", content: .bytes([]))
    }

    @Test
    func `a step lasts until all of its objects are stored`() {
        var output = RecordingOutput()
        output.begin(.conclude(.over), [Self.object("a"), Self.object("b")], storedCount: 0)
        var keys: [String] = []
        while let object = output.nextObject() {
            keys.append(object.key)
            #expect(output.step == .conclude(.over))
        }
        #expect(keys == ["a", "b"] && output.step == .conclude(.over))
        let step = output.finish()
        #expect(step == .conclude(.over) && !output.isBucketLost && output.step == nil)
    }

    @Test
    func `a bucket that refuses for good is given nothing more`() {
        var output = RecordingOutput()
        output.begin(.storeSegment(1), [Self.object("a")], storedCount: 0)
        output.loseBucket()
        let (object, step) = (output.nextObject(), output.finish())
        #expect(object == nil && step == nil && output.step == nil && output.isBucketLost)
    }
}
