// Strong id types: a JobNo cannot be passed where a ScheduleId is expected.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace carillon {

template <typename Tag, typename Rep>
class NumberId {
 public:
  using rep = Rep;
  constexpr NumberId() = default;
  constexpr explicit NumberId(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const NumberId&) const = default;

 private:
  Rep value_{};
};

template <typename Tag>
class TextId {
 public:
  TextId() = default;
  explicit TextId(std::string value) : value_(std::move(value)) {}
  const std::string& value() const { return value_; }
  bool empty() const { return value_.empty(); }
  auto operator<=>(const TextId&) const = default;

 private:
  std::string value_;
};

using JobNo = NumberId<struct JobNoTag, uint64_t>;            // internal number of a job
using GroupNo = NumberId<struct GroupNoTag, uint64_t>;        // of a concurrency group; 0 = none
using CalendarNo = NumberId<struct CalendarNoTag, uint64_t>;  // 0 = none
using ScheduleId = NumberId<struct ScheduleIdTag, uint64_t>;  // below 2^52
using SegmentId = NumberId<struct SegmentIdTag, uint32_t>;    // job_no mod segment count
using Epoch = NumberId<struct EpochTag, uint64_t>;            // fencing token of a segment
using Generation = NumberId<struct GenerationTag, uint64_t>;  // version of an assignment

using JobId = TextId<struct JobIdTag>;              // chosen by the user: [a-z0-9][a-z0-9_-]{0,62}
using ExecutorId = TextId<struct ExecutorIdTag>;    // [a-z0-9][a-z0-9-]{0,62}
using MemberId = TextId<struct MemberIdTag>;        // configured name of a scheduler process
using Incarnation = TextId<struct IncarnationTag>;  // random per start of a daemon

}  // namespace carillon

template <typename Tag, typename Rep>
struct std::hash<carillon::NumberId<Tag, Rep>> {
  size_t operator()(carillon::NumberId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
template <typename Tag>
struct std::hash<carillon::TextId<Tag>> {
  size_t operator()(const carillon::TextId<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.value());
  }
};
