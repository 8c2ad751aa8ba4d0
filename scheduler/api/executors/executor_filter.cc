#include "scheduler/api/executors/executor_filter.h"

#include <algorithm>

#include "common/base/lower_case.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kTextBytesMax = 1000;

bool HasLabels(const ExecutorRecord& executor, const LabelFilter& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& label) {
    const auto at = executor.labels.find(label.first);
    return at != executor.labels.end() &&
           std::ranges::find(label.second, at->second) != label.second.end();
  });
}

}  // namespace

Outcome<ExecutorFilter> ExecutorFilter::Read(const Query& query) {
  ExecutorFilter filter;
  for (const std::string& text : query.All("state")) {
    const auto state = ParseExecutorState(text);
    if (!state.ok()) {
      return InvalidField("?state", "unknown_value", "Must be ONLINE, UNHEALTHY, LOST or OFFLINE.");
    }
    filter.states.push_back(*state);
  }
  filter.text = LowerCase(query.Text("q").value_or(""));
  if (filter.text.size() > kTextBytesMax) {
    return InvalidField("?q", "too_long", "Must be at most 1,000 bytes.");
  }
  CARILLON_ASSIGN_OR_RETURN(filter.labels, ReadLabelFilter(query));
  return filter;
}

bool ExecutorFilter::Matches(const ExecutorRecord& executor) const {
  const bool in_state = states.empty() || std::ranges::find(states, executor.state) != states.end();
  const bool named = LowerCase(executor.id.value()).find(text) != std::string::npos ||
                     LowerCase(executor.host).find(text) != std::string::npos;
  return in_state && named && HasLabels(executor, labels);
}

}  // namespace carillon::scheduler
