#include "common/domain/bulk.h"

#include <array>

#include <fmt/core.h>

namespace carillon {
namespace {

constexpr std::array kBulkStates = {BulkState::kRunning, BulkState::kDone, BulkState::kCancelled,
                                    BulkState::kStopped};
constexpr std::array kResults = {BulkResult::kPending, BulkResult::kDone, BulkResult::kError,
                                 BulkResult::kSkipped};

template <typename All>
Result<typename All::value_type> ParseIn(const All& all, std::string_view text) {
  for (const auto one : all) {
    if (Name(one) == text) return one;
  }
  return {ErrorCode::kInvalid, fmt::format("bulk: unknown value '{}'", text.substr(0, 64))};
}

}  // namespace

std::string_view Name(BulkState state) {
  switch (state) {
    case BulkState::kRunning: return "RUNNING";
    case BulkState::kDone: return "DONE";
    case BulkState::kCancelled: return "CANCELLED";
    case BulkState::kStopped: return "STOPPED";
  }
  return "unknown";
}

Result<BulkState> ParseBulkState(std::string_view text) { return ParseIn(kBulkStates, text); }

std::string_view Name(BulkResult result) {
  switch (result) {
    case BulkResult::kPending: return "pending";
    case BulkResult::kDone: return "done";
    case BulkResult::kError: return "error";
    case BulkResult::kSkipped: return "skipped";
  }
  return "unknown";
}

Result<BulkResult> ParseBulkResult(std::string_view text) { return ParseIn(kResults, text); }

}  // namespace carillon
