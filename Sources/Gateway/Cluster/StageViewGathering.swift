/// The server's answers about several stages, told together; without one of them nothing is known. Confined to the loop.
final class StageViewGathering {
    private var views: [String: ClusterAnswer.StageView] = [:]
    private var missing: Int
    private let reply: ([String: ClusterAnswer.StageView]?) -> Void
    private var isIncomplete = false

    init(count: Int, _ reply: @escaping ([String: ClusterAnswer.StageView]?) -> Void) {
        (missing, self.reply) = (count, reply)
        if count == 0 { reply([:]) }
    }

    func add(_ view: ClusterAnswer.StageView?, of arn: String) {
        views[arn] = view
        isIncomplete = isIncomplete || view == nil
        missing -= 1
        if missing == 0 { reply(isIncomplete ? nil : views) }
    }
}
