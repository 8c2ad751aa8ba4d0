// Checks of any text given as a file of outputs; shared by the fuzzer and the unit test.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/run/outputs.h"

namespace carillon::test {

struct OutputsCheck {
  bool accepted = false;
  std::string complaint = {};  // empty = all checks passed
};

// A refusal has a code and a reason without bytes of the text. Accepted outputs are within the
// limits, and each is read back from the lines that FormatOutput writes for it.
inline OutputsCheck CheckOutputsText(std::string_view text) {
  const auto outputs = ParseOutputs(text);
  if (!outputs.ok()) {
    const std::string& why = outputs.error().message;
    if (outputs.code() != ErrorCode::kInvalid || why.empty()) return {false, "no reason"};
    return {};
  }
  OutputsCheck check{.accepted = true};
  if (!CheckOutputs(*outputs).ok()) check.complaint = "accepted beyond the limits";
  for (const auto& [name, value] : *outputs) {
    const std::string lines = FormatOutput(name, value);
    if (lines.size() > kOutputsBytesMax) continue;  // the lines around the value did not fit
    const auto again = ParseOutputs(lines);
    if (!again.ok() || *again != Outputs{{name, value}}) check.complaint = "own lines differ";
  }
  return check;
}

}  // namespace carillon::test
