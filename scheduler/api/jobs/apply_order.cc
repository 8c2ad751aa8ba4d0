#include "scheduler/api/jobs/apply_order.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "common/domain/schedule/schedule_spec.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

std::string MemberText(const json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The ids of the jobs after which the document's job starts.
std::vector<std::string> NamedUpstream(const json& document) {
  std::vector<std::string> upstream;
  if (!document.is_object() || !document.contains("schedules")) return upstream;
  const json& schedules = document["schedules"];
  if (!schedules.is_array()) return upstream;
  for (const json& schedule : schedules) {
    if (MemberText(schedule, "kind") != Name(ScheduleKind::kAfter)) continue;
    upstream.push_back(MemberText(schedule, "job"));
  }
  return upstream;
}

}  // namespace

std::vector<size_t> UpstreamFirst(const json& documents) {
  std::map<std::string, size_t> by_id;
  for (size_t i = 0; i < documents.size(); ++i) {
    const std::string id = MemberText(documents[i], "job_id");
    if (!id.empty()) by_id.emplace(id, i);
  }
  std::vector<size_t> order;
  std::set<size_t> seen;
  // An explicit stack, because a list may be one long chain. True: all before the document are done.
  for (size_t first = 0; first < documents.size(); ++first) {
    std::vector<std::pair<size_t, bool>> stack{{first, false}};
    while (!stack.empty()) {
      const auto [i, done] = stack.back();
      stack.pop_back();
      if (done) order.push_back(i);
      if (done || !seen.insert(i).second) continue;
      stack.emplace_back(i, true);
      for (const std::string& id : NamedUpstream(documents[i])) {
        const auto upstream = by_id.find(id);
        if (upstream != by_id.end()) stack.emplace_back(upstream->second, false);
      }
    }
  }
  return order;
}

}  // namespace carillon::scheduler
