import Testing

extension UnderLoad {
    @Suite struct NodeDeaths {
        @Test(.timeLimit(.minutes(10)))
        func `of the encoders of nodes that were killed 95 in 100 are back elsewhere within 5 s`() throws {
            let platform = try Platform(4)
            var absences: [Duration] = []
            for node in 0..<3 {
                let publishers = try platform.nodes[node].makePublishers((0..<10).map { "node-\(node)-\($0)" })
                let encoders = try publishers.map { try Interop.ClusterDeath.publish($0, at: platform.nodes[node]) }
                expect("all live", within: .seconds(60)) { platform.nodes[node].count(of: "rtmp_publish_granted") == 10 }
                // Past the grace with which processes begin.
                letPass(.seconds(16))
                let returns = try Interop.ClusterDeath.seeReturns(
                    of: publishers, from: platform.nodes[node], to: platform.nodes[3])
                absences += returns.absences
                for encoder in encoders + returns.runs { encoder.kill() }
            }
            absences.sort()
            print("\(absences.count) encoders were back elsewhere after \(absences.map { "\($0)" }.joined(separator: ", "))")
            #expect(absences[absences.count * 95 / 100] <= .seconds(5))
            platform.stop()
        }
    }
}
