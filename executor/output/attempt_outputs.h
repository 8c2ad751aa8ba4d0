// Outputs of an attempt, from the text of its file, with the values of secrets masked.
//
// Errors   kInvalid, with a sentence: the text is not readable (ParseOutputs), the outputs are too
//          large once they are masked, or a name contains the value of a secret.
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
