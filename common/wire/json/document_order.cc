#include "common/wire/json/document_order.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "common/domain/schedule/schedule_spec.h"
#include "common/domain/workflow/dependency_order.h"

namespace carillon {
namespace {

using nlohmann::json;

std::string MemberText(const json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The member if it is a list; else an empty list.
const json& MemberList(const json& object, const char* name) {
  static const json kNone = json::array();
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : kNone;
}

// The ids of the jobs after which the document's job starts, for whose runs it waits, and that its
// nodes run.
std::vector<std::string> NamedBefore(const json& document) {
  std::vector<std::string> before;
  for (const json& schedule : MemberList(document, "schedules")) {
    if (MemberText(schedule, "kind") != Name(ScheduleKind::kAfter)) continue;
    before.push_back(MemberText(schedule, "job"));
  }
  for (const json& wait : MemberList(document, "waits_for")) {
    before.push_back(MemberText(wait, "job"));
    before.push_back(MemberText(wait, "in"));
  }
  if (!document.is_object() || !document.contains("workflow")) return before;
  for (const json& node : MemberList(document["workflow"], "nodes")) {
    before.push_back(MemberText(node, "job"));
  }
  return before;
}

}  // namespace

std::vector<size_t> UpstreamFirst(const json& documents) {
  std::map<std::string, size_t> by_id;
  for (size_t i = 0; i < documents.size(); ++i) {
    const std::string id = MemberText(documents[i], "job_id");
    if (!id.empty()) by_id.emplace(id, i);
  }
  const auto before = [&](size_t i) {
    std::vector<size_t> named;
    for (const std::string& id : NamedBefore(documents[i])) {
      const auto upstream = by_id.find(id);
      if (upstream != by_id.end()) named.push_back(upstream->second);
    }
    return named;
  };
  std::vector<size_t> levels(documents.size());
  for (const size_t i : Ordered(documents.size(), before)) {
    for (const size_t other : before(i)) levels[i] = std::max(levels[i], levels[other] + 1);
  }
  std::vector<size_t> order(documents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&levels](size_t a, size_t b) { return levels[a] < levels[b]; });
  return order;
}

}  // namespace carillon
