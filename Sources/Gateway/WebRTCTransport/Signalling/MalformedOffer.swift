public import Refusals

/// Refuses an offer as malformed (400): the sentence says what is wrong with it.
public func malformed(_ sentence: String) -> Refusal { Refusal(.malformedOffer, sentence: sentence) }
