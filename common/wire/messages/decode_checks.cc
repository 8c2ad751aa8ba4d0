#include "common/wire/messages/decode_checks.h"

#include <google/protobuf/stubs/logging.h>

#include "common/base/ascii.h"

namespace carillon::wire {
namespace {

constexpr size_t kMemberBytesMax = 128;

}  // namespace

bool IsMemberId(std::string_view id) {
  if (id.empty() || id.size() > kMemberBytesMax) return false;
  for (char c : id) {
    if (!IsLetter(c) && !IsDigit(c) && std::string_view("._:-").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

void SilenceProtobuf() {
  static const bool done = [] {
    google::protobuf::SetLogHandler(nullptr);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace carillon::wire
