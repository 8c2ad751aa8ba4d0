#include "scheduler/api/jobs/apply_order.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "common/domain/run/dependents.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon::scheduler {
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

// The ids of the jobs after which the document's job starts, and of those that its nodes run.
std::vector<std::string> NamedBefore(const json& document) {
  std::vector<std::string> before;
  for (const json& schedule : MemberList(document, "schedules")) {
    if (MemberText(schedule, "kind") != Name(ScheduleKind::kAfter)) continue;
    before.push_back(MemberText(schedule, "job"));
  }
  if (!document.is_object() || !document.contains("workflow")) return before;
  for (const json& node : MemberList(document["workflow"], "nodes")) {
    before.push_back(MemberText(node, "job"));
  }
  return before;
}

// The numbers below `count` in their order, except that each comes after those of before(number).
template <typename Before>
std::vector<size_t> Ordered(size_t count, const Before& before) {
  std::vector<size_t> order;
  std::set<size_t> seen;
  // An explicit stack, because a list may be one long chain. True: all before the number are done.
  for (size_t first = 0; first < count; ++first) {
    std::vector<std::pair<size_t, bool>> stack{{first, false}};
    while (!stack.empty()) {
      const auto [i, done] = stack.back();
      stack.pop_back();
      if (done) order.push_back(i);
      if (done || !seen.insert(i).second) continue;
      stack.emplace_back(i, true);
      for (const size_t other : before(i)) stack.emplace_back(other, false);
    }
  }
  return order;
}

}  // namespace

std::vector<JobId> JobsBefore(const JobDefinition& definition) {
  std::vector<JobId> jobs = UpstreamOf(definition);
  const std::vector<JobId> nodes = NodeJobsOf(definition);
  jobs.insert(jobs.end(), nodes.begin(), nodes.end());
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

std::vector<size_t> UpstreamFirst(const json& documents) {
  std::map<std::string, size_t> by_id;
  for (size_t i = 0; i < documents.size(); ++i) {
    const std::string id = MemberText(documents[i], "job_id");
    if (!id.empty()) by_id.emplace(id, i);
  }
  return Ordered(documents.size(), [&](size_t i) {
    std::vector<size_t> before;
    for (const std::string& id : NamedBefore(documents[i])) {
      const auto upstream = by_id.find(id);
      if (upstream != by_id.end()) before.push_back(upstream->second);
    }
    return before;
  });
}

StoredJob OutlineOf(const StoredJob& job) {
  StoredJob outline{
      .job_no = job.job_no, .job_id = job.job_id, .segment = job.segment, .version = job.version};
  outline.definition.name = job.definition.name;
  outline.definition.name_space = job.definition.name_space;
  outline.definition.user_id = job.definition.user_id;
  outline.definition.labels = job.definition.labels;
  outline.definition.schedules = job.definition.schedules;
  const std::vector<JobId> nodes = NodeJobsOf(job.definition);
  if (!nodes.empty()) outline.definition.workflow.emplace();
  for (const JobId& node : nodes) outline.definition.workflow->nodes.push_back({.job = node});
  return outline;
}

std::vector<StoredJob> DependentsFirst(std::vector<StoredJob> jobs) {
  std::map<JobId, std::vector<size_t>> dependents;  // by the job that must outlive them
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (const JobId& id : JobsBefore(jobs[i].definition)) dependents[id].push_back(i);
  }
  const auto before = [&](size_t i) {
    const auto found = dependents.find(jobs[i].job_id);
    return found == dependents.end() ? std::vector<size_t>() : found->second;
  };
  const std::vector<size_t> order = Ordered(jobs.size(), before);
  std::vector<StoredJob> ordered;
  ordered.reserve(jobs.size());
  for (const size_t i : order) ordered.push_back(std::move(jobs[i]));
  return ordered;
}

}  // namespace carillon::scheduler
