#include "executor/output/attempt_outputs.h"

namespace carillon::executor {

Result<Outputs> ReadOutputs(std::string_view text,
                            const std::shared_ptr<const SecretPatterns>& patterns) {
  // Before it is parsed, because a value may contain a "=" or a line end.
  return ParseOutputs(Masked(patterns, text));
}

}  // namespace carillon::executor
