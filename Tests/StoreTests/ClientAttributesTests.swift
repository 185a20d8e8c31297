import Store
import Testing

@Suite("What a User-Agent tells")
struct ClientAttributesTests {
    struct Case: Sendable {
        var userAgent: String
        var browser = ("", "")
        var system = ("", "")
        var sdkVersion = ""
    }

    private static let webKit = "AppleWebKit/537.36 (KHTML, like Gecko)"

    static let cases = [
        Case(
            userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) \(webKit) Chrome/131.0.0.0 Safari/537.36",
            browser: ("Chrome", "131.0.0.0"), system: ("Windows", "10.0")),
        Case(
            userAgent: "Mozilla/5.0 (Windows NT 10.0) \(webKit) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.51",
            browser: ("Edge", "131.0.2903.51"), system: ("Windows", "10.0")),
        Case(
            userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0", browser: ("Firefox", "133.0"),
            system: ("Linux", "")),
        Case(
            userAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) \(webKit) Version/17.6 Safari/605.1.15",
            browser: ("Safari", "17.6"), system: ("macOS", "10.15.7")),
        Case(
            userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) \(webKit) Version/18.1 Mobile/15E148 Safari/604.1",
            browser: ("Safari", "18.1"), system: ("iOS", "18.1")),
        Case(
            userAgent: "Mozilla/5.0 (Linux; Android 14; Pixel 8) \(webKit) Chrome/131.0.0.0 Mobile Safari/537.36",
            browser: ("Chrome", "131.0.0.0"), system: ("Android", "14")),
        Case(
            userAgent: "Mozilla/5.0 (OBS-Studio/32.0.2; Linux x86_64; en-US)", system: ("Linux", ""),
            sdkVersion: "Mozilla 5.0  OBS-Studio 32.0.2; Linux x86_64; en-US "),
        Case(userAgent: "FMLE/3.0 (compatible; FMSc/1.0)", sdkVersion: "FMLE 3.0  compatible; FMSc 1.0 "),
        Case(userAgent: "Lavf/62.3.100", sdkVersion: "Lavf 62.3.100"),
        Case(userAgent: "", sdkVersion: ""),
        Case(userAgent: "ümlaut\n<b>\u{1F3AC}", sdkVersion: " mlaut  b  "),
        Case(userAgent: "Chrome/", browser: ("Chrome", "")),
        Case(userAgent: String(repeating: "a", count: 300), sdkVersion: String(repeating: "a", count: 128)),
        Case(
            userAgent: "Chrome/" + String(repeating: "1", count: 300), browser: ("Chrome", String(repeating: "1", count: 128))),
    ]

    @Test(arguments: cases.indices)
    func `browser, system and else the program itself, in the characters of the model`(_ row: Int) {
        let (expected, attributes) = (Self.cases[row], ClientAttributes(userAgent: Self.cases[row].userAgent))
        #expect(attributes.browserName == expected.browser.0 && attributes.browserVersion == expected.browser.1)
        #expect(attributes.osName == expected.system.0 && attributes.osVersion == expected.system.1)
        #expect(attributes.sdkVersion == expected.sdkVersion)
    }
}
