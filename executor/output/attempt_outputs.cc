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
  CARILLON_ASSIGN_OR_RETURN(Outputs outputs, ParseOutputs(text));
  if (patterns == nullptr) return outputs;
  for (auto& [name, value] : outputs) {
    if (Masked(name, patterns) != name) {
      return {ErrorCode::kInvalid, "a name contains the value of a secret"};
    }
    value = Masked(value, patterns);
  }
  CARILLON_TRY(CheckOutputs(outputs));
  return outputs;
}

}  // namespace carillon::executor
