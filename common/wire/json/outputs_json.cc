#include "common/wire/json/outputs_json.h"

#include <nlohmann/json.hpp>

namespace carillon {

std::string OutputsToJson(const Outputs& outputs) { return nlohmann::json(outputs).dump(); }

Result<Outputs> OutputsFromJson(std::string_view text) {
  const nlohmann::json stored = nlohmann::json::parse(text, nullptr, false);
  Outputs outputs;
  bool texts = stored.is_object();
  if (texts) {
    for (const auto& [name, value] : stored.items()) {
      texts = texts && value.is_string();
      if (texts) outputs[name] = value.get<std::string>();
    }
  }
  if (!texts || !CheckOutputs(outputs).ok()) return {ErrorCode::kCorrupt, "outputs of a run"};
  return outputs;
}

}  // namespace carillon
