import HTTP
import Testing

@testable import Node

@Suite
struct RecordedFilesTests {
    @Test(
        arguments: [
            ("1.mp4", "video/mp4"), ("a-b.2.jpg", "image/jpeg"), ("1.html", nil), ("", nil), ("..", nil), ("../1.mp4", nil),
            ("../../../other/media/hls/1.mp4", nil), ("a/1.mp4", nil), ("/1.mp4", nil),
        ] as [(String, String?)])
    func `a file is one name of its folder, of a kind that recordings have`(name: String, contentType: String?) {
        let place = RecordedFiles.Place(["stage", "session", "participant", name], in: "media/hls")
        #expect(place.contentType == contentType)
        #expect(place.file == "media/hls/\(name)")
    }

    /// Two recordings of a participant in one stage session have their files at the same URLs.
    @Test(arguments: ["video/mp4", "image/jpeg", "application/vnd.apple.mpegurl", "application/json"])
    func `no browser keeps a file for the participant's next recording`(contentType: String) {
        let response = RecordedFiles.response(.success([1, 2]), contentType)
        #expect(response.headers["Content-Type"] == contentType && response.body == [1, 2])
        #expect(response.headers["Cache-Control"] == "no-store")
    }
}
