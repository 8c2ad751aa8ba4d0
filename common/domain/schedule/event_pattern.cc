#include "common/domain/schedule/event_pattern.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr char kStar = '*';

Status Wrong(std::string_view pointer, std::string why) {
  return Error{ErrorCode::kInvalid, std::move(why), std::string(pointer)};
}

// As for the texts of events, so that each pattern can match one.
Status CheckText(std::string_view pointer, const std::string& text, size_t bytes_max) {
  std::string fault = TextFault(text, bytes_max);
  if (!fault.empty()) return Wrong(pointer, std::move(fault));
  if (std::none_of(text.begin(), text.end(), IsControl)) return {};
  return Wrong(pointer, "must not contain control characters");
}

}  // namespace

Status CheckEventPattern(const ScheduleSpec& spec) {
  const std::string& type = spec.event_type;
  if (type.empty()) {
    return Wrong("/type",
                 "is missing: the type of the events, such as order.created, or its beginning and "
                 "a star, such as order.*");
  }
  CARILLON_TRY(CheckText("/type", type, kEventTypePatternBytesMax));
  const size_t star = type.find(kStar);
  if (star != std::string::npos && star + 1 != type.size()) {
    return Wrong("/type", "may have one * at its end only");
  }
  const std::string& source = spec.event_source;
  CARILLON_TRY(CheckText("/source", source, kEventSourcePatternBytesMax));
  if (!source.ends_with(kStar)) return {};
  return Wrong("/source",
               "is compared as a whole, so it has no *; omit it for any source, or compare it in "
               "the filter");
}

bool FitsEventType(std::string_view pattern, std::string_view type) {
  if (!IsOpenEventType(pattern)) return pattern == type;
  pattern.remove_suffix(1);
  return type.starts_with(pattern);
}

bool IsOpenEventType(std::string_view pattern) { return pattern.ends_with(kStar); }

}  // namespace carillon
