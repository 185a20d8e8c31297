import Settings
import Testing
import Wire

@testable import Node

@Suite("Load watch")
struct LoadWatchTests {
    var watch = {
        var settings = OverloadSettings()
        (settings.cpu, settings.loopLag) = (90, .milliseconds(100))
        (settings.descriptors, settings.memory) = (80, ByteSize(bytes: 1_000))
        return LoadWatch(settings)
    }()

    static let overloads: [(NodeLoad, LoadWatch.Measure, Int)] = [
        (NodeLoad(cpu: 0.95), .cpu, 3), (NodeLoad(loopLag: .milliseconds(101)), .loopLag, 5),
        (NodeLoad(descriptors: 0.81), .descriptors, 3), (NodeLoad(memory: 1_001), .memory, 3),
    ]

    @Test(arguments: overloads)
    mutating func `looks in a row over a limit close it`(_ load: NodeLoad, _ measure: LoadWatch.Measure, _ looks: Int) {
        for _ in 1..<looks { watch.look(at: load) }
        #expect(watch.reason == nil)
        watch.look(at: load)
        #expect(watch.reason == measure)
    }

    @Test mutating func `single peaks do not`() {
        for _ in 0..<10 {
            watch.look(at: NodeLoad(cpu: 1))
            watch.look(at: NodeLoad(cpu: 0.5))
        }
        #expect(!watch.isOverloaded)
    }

    @Test mutating func `just below the limit it stays closed, well below it opens after a while`() {
        for _ in 0..<3 { watch.look(at: NodeLoad(cpu: 1)) }
        for _ in 0..<20 { watch.look(at: NodeLoad(cpu: 0.85)) }
        #expect(watch.isOverloaded)
        for _ in 0..<4 { watch.look(at: NodeLoad(cpu: 0.5)) }
        #expect(watch.isOverloaded)
        watch.look(at: NodeLoad(cpu: 0.5))
        #expect(!watch.isOverloaded)
    }

    @Test mutating func `without a bound memory closes nothing`() {
        watch.limits.memory = ByteSize(bytes: 0)
        for _ in 0..<3 { watch.look(at: NodeLoad(memory: .max)) }
        #expect(!watch.isOverloaded)
    }
}
