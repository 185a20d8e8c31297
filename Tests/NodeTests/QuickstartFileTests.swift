import JSON
import Settings
import Testing
import Wire

@testable import Node

@Suite
struct QuickstartFileTests {
    private static func file() -> QuickstartFile {
        QuickstartFile(
            streamKey: Secret("sk_1"), participantID: "p1", secretAccessKey: Secret("secret"), region: "eu-central-1",
            stageARN: "arn:stage", stageID: "s1")
    }

    @Test
    func `what is off is absent from the file and from the guide`() throws {
        let file = Self.file()
        let json = try JSONValue(parsing: file.json)
        let members = ["streamKey", "participantId", "secretAccessKey", "region", "stageArn", "stageId"]
        #expect(json.object?.names == members)
        #expect(!file.guide.contains("ffmpeg") && !file.guide.contains("Watch"))
        #expect(file.json.last == 10, "the file ends with a line's end")
    }

    @Test
    func `the URLs of the file hold no key, the guide's lines are whole`() throws {
        var file = Self.file()
        (file.rtmpURL, file.rtmpsURL) = ("rtmp://h:1935/app", "rtmps://h:1935/app")
        (file.whipURL, file.whipToken, file.caCertificate) = ("http://h/whip", Secret("token"), "/data/tls/ca.pem")
        let json = try JSONValue(parsing: file.json)
        #expect(json["rtmpURL"] == "rtmp://h:1935/app")
        #expect(json["whipToken"] == "token")
        #expect(file.guide.contains("-f flv 'rtmp://h:1935/app/sk_1'"))
        #expect(file.guide.contains("-tls_verify 1 -ca_file '/data/tls/ca.pem' 'rtmps://h:1935/app/sk_1'"))
        file.obsConfigOverride = ["meta": ["config_id": "c1"]]
        #expect(try JSONValue(parsing: file.json)["obsConfigOverride"]?["meta"]?["config_id"] == "c1")
        #expect(file.guide.contains("Enable Config Override (OBS 32.0.1 and later), and paste there:\n                {\"meta\""))
        #expect(file.guide.contains("-f whip -authorization token 'http://h/whip'"))
        file.rtmpURL = nil  // the shared port alone
        #expect(
            file.guide.contains("OBS (Custom…)   Server rtmps://h:1935/app   Stream Key sk_1\n"))
    }

    @Test
    func `the guide says where the console is and how to sign in`() throws {
        var file = Self.file()
        (file.adminURL, file.consoleURL, file.accessKeyID) = ("http://h:8088", "http://h:8088/", "AKIA1")
        #expect(try JSONValue(parsing: file.json)["consoleURL"] == "http://h:8088/")
        #expect(file.guide.contains("Console         http://h:8088/   Access key id AKIA1   Secret access key secret\n"))
    }

    @Test
    func `the bucket for recordings is named where quickstart has one`() throws {
        var (untouched, said) = (StagedoorConfiguration(), StagedoorConfiguration())
        said.storage["recordings"] = StorageSettings(directory: "/srv/shows")
        said.storage["recordings"]?.bucket = "my.shows"
        QuickstartDefaults.apply(to: &untouched)
        QuickstartDefaults.apply(to: &said)
        var file = Self.file()
        file.bucketName = QuickstartDefaults.bucketName(in: untouched)
        #expect(try JSONValue(parsing: file.json)["bucketName"] == "recordings")
        #expect(QuickstartDefaults.bucketName(in: said) == nil)
    }

    @Test
    func `quickstart ends at once unless the operator said how a drain goes`() {
        var untouched = StagedoorConfiguration()
        QuickstartDefaults.apply(to: &untouched)
        #expect(untouched.drain.timeout == .zero)
        #expect(untouched.watch.publishPage)
        var said = StagedoorConfiguration()
        said.drain.grace = .seconds(7)
        QuickstartDefaults.apply(to: &said)
        #expect(said.drain.grace == .seconds(7))
    }
}
