import Settings
import Testing
import Wire

@testable import MediaContract

@Suite("Faults that were found")
struct FoundFaultsTests {
    private let now = MonotonicTime.zero + .seconds(9)

    @Test
    func `what is only suspected ends nothing by itself, and stands beside what does`() {
        let suspicion = ContractFinding(fault: .keyframeInterval(seconds: 8.3), layer: 0)
        let ground = ContractFinding(fault: .frameRate(framesPerSecond: 5), layer: 0)
        var faults = FoundFaults()
        faults.suspect(suspicion, action: .disconnect, at: now)
        #expect(faults.verdict(at: now).isEmpty && faults.present(at: now).isEmpty)
        _ = faults.note(ground, action: .disconnect, at: now)
        #expect(faults.verdict(at: now).contains(suspicion) && faults.present(at: now) == [ground])
        _ = faults.note(suspicion, action: .disconnect, at: now)
        #expect(faults.present(at: now).contains(suspicion))
    }
}
