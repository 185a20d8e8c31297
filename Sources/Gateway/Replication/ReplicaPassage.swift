import Admission
package import StageHub

/// What handing a publication on to another stage costs, for the benchmark's steps.
package enum ReplicaPassage {
    /// From now on the replica's sinks get what comes.
    package static func open(from original: Publication, to replica: Publication) {
        original.add(ReplicaFeed(from: original, to: replica, holder: LocalHolder { _ in }))
    }
}
