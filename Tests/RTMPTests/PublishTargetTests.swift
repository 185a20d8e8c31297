import Testing

@testable import RTMP

@Suite("Publish target")
struct PublishTargetTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var app: String
        var tcURL: String
        var name: String
        var keys: [String]
        var query = ""
        var testDescription: String { "\(app) \(tcURL) \(name)" }

        init(_ app: String, _ tcURL: String, _ name: String, _ keys: [String], query: String = "") {
            (self.app, self.tcURL, self.name, self.keys, self.query) = (app, tcURL, name, keys, query)
        }
    }

    static let url = "rtmp://host/app"
    static let cases: [Case] = [
        Case("app", url, "KEY", ["KEY"]),
        Case("app/", url + "/", "KEY", ["KEY"]),
        Case("app", url, "/KEY/", ["KEY"]),
        Case("/app", url, "KEY", ["KEY"]),
        Case("app//", url + "//", "KEY", ["KEY"]),
        Case("app", url, "KEY?token=1", ["KEY"], query: "token=1"),
        Case("app?token=1", url + "?token=1", "KEY", ["KEY"], query: "token=1"),
        Case("app?a=1", url + "?b=2", "KEY?c=3", ["KEY"], query: "c=3&a=1&b=2"),
        Case("app/inst", url + "/inst", "KEY", ["KEY", "inst/KEY", "inst"]),
        Case("app/_definst_/", url + "/_definst_/", "KEY", ["KEY", "_definst_/KEY", "_definst_"]),
        Case("app/KEY", url + "/KEY", "stream", ["stream", "KEY/stream", "KEY"]),
        Case("app/KEY", url + "/KEY", "KEY", ["KEY", "KEY/KEY"]),
        Case("app/KEY", url + "/KEY", "", ["KEY"]),
        Case("app", url + "/KEY", "", ["KEY"]),
        Case("", url + "/KEY", "", ["KEY"]),
        Case("", url, "KEY", ["KEY"]),
        Case("", url + "/inst?x=1", "KEY", ["KEY", "inst/KEY", "inst"], query: "x=1"),
        Case("app", url, "", [""]),
        Case("app", url, "a/b", ["a/b", "b"]),
        Case("app/a", url + "/a", "b", ["b", "a/b", "a"]),
        Case("app", url, "a=b&c%20d", ["a=b&c%20d", "a=b&c d"]),
        Case("app", url, "sk%5Fus%2Deast", ["sk%5Fus%2Deast", "sk_us-east"]),
        Case("app", url, "KEY%3Ftoken%3D1", ["KEY%3Ftoken%3D1", "KEY"]),
        Case("app/%20KEY", url + "/%20KEY", "", ["%20KEY", "KEY"]),
        Case("app", url, "100%", ["100%"]),
        Case(" app\t", url, " KEY\r\n", ["KEY"]),
        Case("app/KEY ", url + "/KEY ", "", ["KEY"]),
        Case("app", url, " rtmp://host/app/KEY ", ["KEY"]),
        Case("app", url, "rtmp://host/app/KEY", ["KEY"]),
        Case("app", url, "rtmps://host:443/app/inst/KEY?x=1", ["inst/KEY", "KEY"], query: "x=1"),
        Case("app", "rtmp://host:1935/app", "sk_us-east-1_AbCd_1234", ["sk_us-east-1_AbCd_1234"]),
    ]

    @Test(arguments: cases)
    func `is found`(_ testCase: Case) {
        let target = PublishTarget(app: testCase.app, tcURL: testCase.tcURL, publishName: testCase.name)
        #expect(target.application == "app")
        #expect(target.keys == testCase.keys)
        #expect(target.query == testCase.query)
    }

    @Test func `names another application`() {
        #expect(PublishTarget(app: "live", tcURL: "rtmp://host/live", publishName: "KEY").application == "live")
        #expect(PublishTarget(app: "", tcURL: "", publishName: "").application == "")
    }

    @Test(arguments: ["app?authmod=adobe&user=u", "app?authmod=llnw"])
    func `sees password schemes`(_ app: String) {
        #expect(PublishTarget(app: app, tcURL: "", publishName: "KEY").asksForPasswordScheme)
    }
}

extension PublishTarget {
    fileprivate init(app: String, tcURL: String, publishName: String) {
        self.init(ConnectTarget(app: app, tcURL: tcURL), publishName: publishName)
    }
}
