/// What all workers are asked to do, one step after the other, and how many have still to do the present one.
struct WorkerSteps: Sendable {
    private let workers: Int
    /// Tells what workers did in this step from what they did in one that was given up.
    private var number = 0
    private var awaited = 0

    init(workers: Int) { self.workers = workers }

    /// - Returns: the number of a new step, in place of the one before.
    mutating func begin() -> Int {
        number += 1
        awaited = workers
        return number
    }

    /// A worker has done that step.
    /// - Returns: whether it was the last one to do the present step.
    mutating func countDone(_ step: Int) -> Bool {
        guard step == number, awaited > 0 else { return false }
        awaited -= 1
        return awaited == 0
    }
}
