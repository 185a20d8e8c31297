@testable import RedundantIngest
