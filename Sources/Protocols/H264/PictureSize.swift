/// Width and height of a picture after cropping, in samples.
public struct PictureSize: Equatable, Sendable, CustomStringConvertible {
    /// Of a line.
    public var width: Int
    /// Lines.
    public var height: Int

    /// From its parts.
    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    /// Of the whole picture.
    public var pixelCount: Int { width * height }
    /// The height of a picture that lies, the width of one that stands: what 720p means.
    public var shortSide: Int { min(width, height) }

    /// `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

extension SequenceParameterSet {
    /// Width and height.
    public var pictureSize: PictureSize { PictureSize(width: width, height: height) }
}
