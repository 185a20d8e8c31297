import Testing

@testable import Node

@Suite
struct ClusterFaultTests {
    @Test
    func `servers that answer and write are no fault`() {
        var fault = ClusterFault()
        #expect(fault.words == "not connected yet")
        fault.absence = nil
        #expect(fault.words == nil)
    }

    @Test
    func `servers that refuse what is written are a fault until they take it, also when they were away meanwhile`() {
        var fault = ClusterFault()
        (fault.absence, fault.refusal) = (nil, "OOM command not allowed")
        #expect(fault.words == "the servers refuse what is written: OOM command not allowed")
        fault.absence = "10.0.0.1:6379 does not answer"
        #expect(fault.words == "10.0.0.1:6379 does not answer")
        fault.absence = nil
        #expect(fault.words?.contains("OOM") == true)
    }
}
