import Settings
import Testing

@Suite("What an access key's lists name")
struct AccessKeySettingsTests {
    @Test(arguments: [
        ("ivs:GetStage", "ivs:GetStage", true), ("ivs:GetStage", "ivs:GetStageSession", false),
        ("ivs:GetStage", "ivs:getstage", true),
        ("IVS:get*", "ivs:GetStage", true), ("ivs:Get*", "ivs:Get", true), ("ivs:Get*", "stagedoor:GetSession", false),
        ("ivs:*Stage", "ivs:DeleteStage", true), ("ivs:*Stage", "ivs:GetStageSession", false),
        ("*:List*s", "ivs:ListStages", true), ("ivs:?etStage", "ivs:GetStage", true), ("ivs:?etStage", "ivs:etStage", false),
        ("ivs:*a*a*a*", "ivs:CreateParticipantToken", true), ("ivs:*a*e*a*e*t", "ivs:CreateParticipantToken", false),
        ("*", "ivs:GetStage", true), ("*", "", true), ("ivs:*", "", false), ("*:*", "", false),
    ])
    func `a pattern of actions`(_ text: String, _ action: String, _ matches: Bool) throws {
        #expect(try #require(ActionPattern(text)).matches(action) == matches)
    }

    @Test(arguments: [
        "", "ivs", "ivs:", ":GetStage", "ivs:Get:Stage", "ivs:Get Stage", "ivs:GetStage\u{301}", "ivs:[a-z]", "**",
        "ivs:" + String(repeating: "*", count: 253),
    ])
    func `what is no pattern of actions`(_ text: String) {
        #expect(ActionPattern(text) == nil)
    }

    private static let arn = "arn:aws:ivs:us-east-1:000000000000:stage/aBc123"

    @Test(arguments: [
        (arn, arn, true), (arn, arn.lowercased(), false), (arn, arn + "4", false), ("arn:aws:ivs:*:*:stage/*", arn, true),
        ("arn:*:stage/aBc*", arn, true), ("arn:*:stage/x*", arn, false), ("*", "", true), ("arn:*", "", false),
    ])
    func `a pattern of stages`(_ text: String, _ arn: String, _ matches: Bool) throws {
        #expect(try #require(StagePattern(text)).matches(arn) == matches)
    }

    @Test(arguments: [
        "", "stage/aBc123", "aBc123", "arn:aws:ivs:us-east-1:1:stage/a b", "arn:" + String(repeating: "a", count: 253),
    ])
    func `what is no pattern of stages`(_ text: String) {
        #expect(StagePattern(text) == nil)
    }

    /// Of all stars only the last one is tried again: a text of 256 bytes takes 256 x 256 steps at most,
    /// not 256 to the power of stars.
    @Test(.timeLimit(.minutes(10)))
    func `a pattern full of stars is soon told from a text that nearly matches`() throws {
        let pattern = try #require(ActionPattern("ivs:" + String(repeating: "*a", count: 125) + "b"))
        #expect(!pattern.matches("ivs:" + String(repeating: "a", count: 10_000)))
    }
}
