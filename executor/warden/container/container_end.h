// The end of a container, from its driver to whoever journals it. Pure, except for AddOutputsOf.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/domain/run/outputs.h"
#include "executor/output/secret_masker.h"

namespace carillon::executor {

struct ContainerEnd {
  enum class Kind { kExited, kOutOfMemory, kNotStarted, kRemoved };
  Kind kind = Kind::kExited;
  int exit_code = 0;
  std::string text = {};  // kNotStarted: why
  // The driver had asked the engine to stop it, so the end may be that of a cancel or a timeout.
  bool stopped = false;
  Outputs outputs = {};
  std::string outputs_fault = {};  // why there are none; empty: nothing is wrong with them

  bool operator==(const ContainerEnd&) const = default;
};
std::string EncodeEnd(const ContainerEnd& end);
std::optional<ContainerEnd> ParseEnd(std::string_view bytes);

// Reads the file of outputs of a container that has exited, and masks them. `patterns`: null if
// nothing is masked.
void AddOutputsOf(ContainerEnd& end, const std::string& outputs_file,
                  const std::shared_ptr<const SecretPatterns>& patterns);

}  // namespace carillon::executor
