import JSON
import Testing
import Wire

@testable import GatewayLogging

@Suite("Log lines")
struct LogFormatTests {
    private func line(_ format: LogFormat, _ fields: LogFields, event: String = "publish_started") -> String {
        let time = WallTime(nanosecondsSince1970: 784_111_777_125_000_000)
        return String(decoding: format.line(LogRecord(time: time, level: .info, event: event, fields: fields)), as: UTF8.self)
    }

    @Test func `are JSON objects for programs`() {
        #expect(
            line(.json, ["session": "s1", "bytes": 5, "rate": 0.5, "on": true, "codecs": .strings(["a", "b"])])
                == #"{"time":"1994-11-06T08:49:37.125Z","level":"info","event":"publish_started","session":"s1","bytes":5,"#
                + #""rate":0.5,"on":true,"codecs":["a","b"]}"# + "\n")
    }

    @Test func `are words for people`() {
        #expect(
            line(.text, ["session": "s1", "agent": "OBS Studio/32", "took": .seconds(.milliseconds(1500)), "empty": ""])
                == "08:49:37.125 INFO    publish_started session=s1 agent=\"OBS Studio/32\" took=1.5 empty=\"\"\n")
    }

    @Test(arguments: ["a\nb", "a\r\n{\"level\":\"error\"}", "\u{1B}[2J", "\u{202E}txt", "\u{0}", "\u{85}", "\u{2028}", "a\"b\\c"])
    func `stay one line whatever a peer sends`(_ text: String) throws {
        let words = line(.text, ["agent": .string(text)])
        #expect(words.unicodeScalars.filter { $0.value < 0x20 || $0.properties.generalCategory == .format }.count == 1)
        let json = line(.json, ["agent": .string(text)])
        #expect(json.utf8.filter { $0 < 0x20 }.count == 1)
        #expect(try JSONValue(parsing: json)["agent"]?.string == text)
    }

    @Test func `have fields added in their order, and each name once`() {
        let (fields, others): (LogFields, LogFields) = (["session": "s1", "reason": "a"], ["reason": "b", "bytes": 5])
        #expect(fields.adding(others) == ["session": "s1", "reason": "b", "bytes": 5])
        #expect(fields.adding([:]) == fields)
    }

    @Test func `clip what is too long and never print a secret`() {
        #expect(line(.json, ["agent": .string(String(repeating: "x", count: 100_000))]).utf8.count < 2200)
        #expect(!line(.text, ["key": "\(Secret("rt_000_secret"))"]).contains("rt_000"))
    }
}
