#include "common/adapters/mysql/workflow/loaded_versions.h"

#include <utility>

#include <fmt/format.h>

#include "common/adapters/mysql/job_rows/job_rows.h"

namespace carillon::mysql {

Result<std::map<JobVersionKey, SharedVersion>> LoadVersions(Session& session,
                                                            const std::vector<JobVersionKey>& keys,
                                                            VersionCache& cache) {
  std::map<JobVersionKey, SharedVersion> found;
  std::vector<JobVersionKey> missing;
  for (const JobVersionKey& key : keys) {
    if (!found.try_emplace(key).second) continue;
    found[key] = cache.Get(key);
    if (found[key] == nullptr) missing.push_back(key);
  }
  if (missing.empty()) return found;
  std::vector<size_t> bytes;
  CARILLON_ASSIGN_OR_RETURN(std::vector<JobVersionRecord> records,
                            ReadDefinitions(session, missing, &bytes));
  for (size_t i = 0; i < records.size(); ++i) {
    LoadedVersion version{.record = std::move(records[i]), .graph = {}};
    const JobVersionKey key{version.record.job_no, version.record.version};
    bool whole = version.record.readable;
    if (whole && version.record.definition.workflow) {
      auto graph = WorkflowGraph::Compile(*version.record.definition.workflow);
      whole = graph.ok();
      if (whole) version.graph = std::move(graph).value();
    }
    found[key] = std::make_shared<const LoadedVersion>(std::move(version));
    if (whole) cache.Put(key, found[key], bytes[i]);
  }
  std::erase_if(found, [](const auto& entry) { return entry.second == nullptr; });
  return found;
}

Result<SharedVersion> WithGraph(const std::map<JobVersionKey, SharedVersion>& found,
                                const JobVersionKey& key) {
  const auto version = found.find(key);
  if (version != found.end() && version->second->graph) return version->second;
  return Error{ErrorCode::kCorrupt,
               fmt::format("version {} of job {} is unreadable, gone or not a workflow",
                           key.version, key.job_no.value())};
}

}  // namespace carillon::mysql
