// Outputs of an attempt, from the text of its file, with the values of secrets masked.
//
// The text is masked as a whole, like a log. A secret that is not within one value is therefore
// masked too, and mostly leaves a text that cannot be parsed.
//
// Errors   kInvalid, with a sentence: the text is not readable (ParseOutputs), or too large once it
//          is masked.
#pragma once

#include <memory>
#include <string_view>

#include "common/domain/run/outputs.h"
#include "executor/output/secret_masker.h"

namespace carillon::executor {

// `patterns` is null if nothing is to be masked.
Result<Outputs> ReadOutputs(std::string_view text,
                            const std::shared_ptr<const SecretPatterns>& patterns);

}  // namespace carillon::executor
