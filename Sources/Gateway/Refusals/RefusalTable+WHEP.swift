/// What subscribers of the embedded router are refused for (1140 to 1149); what their offers share with WHIP stands there.
extension RefusalCode {
    public static let participantNotLive = RefusalCode(
        1140, "participant_not_live", .rejected, 404,
        "Nobody of this id is live on this stage: watch a participant who is publishing now.")
    public static let tooManySubscribers = RefusalCode(
        1141, "too_many_subscribers", .rejected, 503,
        "The embedded router has its greatest number of subscribers (embedded.maximumSubscribers): end one of them, or use a stage router."
    )
    public static let nothingReceived = RefusalCode(
        1142, "nothing_received", .rejected, 422,
        "A track of the offer receives nothing (sendonly, inactive or port 0): offer recvonly tracks only.")
}
