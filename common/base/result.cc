#include "common/base/result.h"

namespace carillon {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return "invalid";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kDenied: return "denied";
    case ErrorCode::kExists: return "exists";
    case ErrorCode::kConflict: return "conflict";
    case ErrorCode::kFenced: return "fenced";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kExhausted: return "exhausted";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kBrokenStore: return "broken_store";
  }
  return "unknown";
}

}  // namespace carillon
