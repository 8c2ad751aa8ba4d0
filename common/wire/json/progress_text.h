// The text of a progress file: `42 some text`, or a JSON object with "percent", "text" or both.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/run/run.h"

namespace carillon {

// Ignores white space around the text, and rounds the percentage down. kInvalid, with a sentence:
// the text is neither form, its percentage is outside 0 to 100, or it is not UTF-8.
Result<RunProgress> ParseProgress(std::string_view text);
// The text that ParseProgress reads as this progress.
std::string FormatProgress(const RunProgress& progress);

}  // namespace carillon
