#include "common/adapters/mysql/job_rows/retry_columns.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <charconv>

namespace carillon::mysql {

std::vector<int64_t> SplitNumbers(const std::string& text) {
  std::vector<int64_t> numbers;
  const char* place = text.data();
  const char* const end = place + text.size();
  while (place < end) {
    int64_t number = 0;
    const auto parsed = std::from_chars(place, end, number);
    if (parsed.ec != std::errc()) break;
    numbers.push_back(number);
    place = parsed.ptr + 1;
  }
  return numbers;
}

std::string JoinIntervals(const std::vector<int64_t>& intervals_s) {
  std::string text;
  for (const int64_t s : intervals_s) text += (text.empty() ? "" : ",") + std::to_string(s);
  return text;
}

std::vector<Duration> SplitIntervals(const std::string& text) {
  std::vector<Duration> intervals;
  for (const int64_t s : SplitNumbers(text)) intervals.push_back(std::chrono::seconds(s));
  return intervals;
}

std::string JoinConditions(const JobDefinition& job) {
  if (job.retry_on.empty() && job.no_retry_on.empty()) return {};
  return fmt::format("{};{}", fmt::join(job.retry_on, ","), fmt::join(job.no_retry_on, ","));
}

bool SplitConditions(std::string_view text, RetryConditions* conditions) {
  std::vector<RetryCondition>* list = &conditions->retry_on;
  while (!text.empty()) {
    const size_t end = text.find_first_of(",;");
    if (const std::string_view one = text.substr(0, end); !one.empty()) {
      const auto parsed = ParseRetryCondition(one);
      if (!parsed.ok()) return false;
      list->push_back(*parsed);
    }
    if (end == std::string_view::npos) break;
    if (text[end] == ';') list = &conditions->no_retry_on;
    text.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace carillon::mysql
