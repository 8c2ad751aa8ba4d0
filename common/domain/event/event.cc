#include "common/domain/event/event.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/job_text.h"

namespace carillon {
namespace {

Status CheckName(std::string_view pointer, const std::string& text, size_t bytes_max) {
  const auto wrong = [pointer](std::string what) -> Status {
    return Error{ErrorCode::kInvalid, std::move(what), std::string(pointer)};
  };
  if (text.size() > bytes_max) return wrong(fmt::format("must be at most {} bytes", bytes_max));
  if (!CountUtf8(text)) return wrong("is not valid UTF-8");
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return wrong("must not contain control characters");
  }
  return {};
}

}  // namespace

Status CheckOrigin(const EventOrigin& origin) {
  CARILLON_TRY(CheckName("/id", origin.id, kEventIdBytesMax));
  CARILLON_TRY(CheckName("/source", origin.source, kEventSourceBytesMax));
  CARILLON_TRY(CheckName("/type", origin.type, kEventTypeBytesMax));
  CARILLON_TRY(CheckName("/subject", origin.subject, kEventSubjectBytesMax));
  const auto missing = [](std::string_view pointer) -> Status {
    return Error{ErrorCode::kInvalid, "must not be empty", std::string(pointer)};
  };
  if (origin.id.empty()) return missing("/id");
  if (origin.source.empty()) return missing("/source");
  if (origin.type.empty()) return missing("/type");
  return {};
}

}  // namespace carillon
