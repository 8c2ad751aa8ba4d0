#include "executor/output/attempt_outputs.h"

#include <string>

namespace carillon::executor {
namespace {

std::string Masked(std::string_view text, const std::shared_ptr<const SecretPatterns>& patterns) {
  SecretMasker masker(patterns);
  std::string shown = masker.Feed(text);
  return shown + masker.End();
}

}  // namespace

Result<Outputs> ReadOutputs(std::string_view text,
                            const std::shared_ptr<const SecretPatterns>& patterns) {
  if (patterns == nullptr) return ParseOutputs(text);
  // Before it is parsed, because a value may contain a "=" or a line end.
  return ParseOutputs(Masked(text, patterns));
}

}  // namespace carillon::executor
