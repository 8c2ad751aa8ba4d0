#include "common/domain/results/exit_code.h"

#include <signal.h>

#include <cstring>

#include <fmt/format.h>

namespace carillon {
namespace {

constexpr int kSignalBase = 128;
constexpr int kSignalMax = 64;

}  // namespace

std::optional<int> SignalOfExitCode(int code) {
  const int number = code - kSignalBase;
  if (number < 1 || number > kSignalMax) return std::nullopt;
  return number;
}

std::string ExitCodeText(int code) {
  const auto number = SignalOfExitCode(code);
  if (!number) return std::to_string(code);
  const char* abbreviation = sigabbrev_np(*number);
  const std::string name = abbreviation != nullptr ? fmt::format("SIG{}", abbreviation)
                                                   : fmt::format("signal {}", *number);
  return fmt::format("{} ({} + {}: {}{})", code, kSignalBase, *number, name,
                     *number == SIGKILL ? "; often out of memory" : "");
}

}  // namespace carillon
