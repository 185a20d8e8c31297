/// One session's map from media time to our wall clock, the same for all its tracks (DESIGN 5, design note 5).
public final class Timeline {
    public init() {}
}
