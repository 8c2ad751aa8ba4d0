// The port JobStore on MariaDB or MySQL.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

class MysqlJobStore final : public JobStore {
 public:
  explicit MysqlJobStore(MysqlDatabase& db) : db_(db) {}

  Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                              const WriteContext& context) override;
  Result<StoredJobs> CreateJobs(const NewJobs& jobs, const WriteContext& context) override;
  Result<StoredJob> GetJob(const JobId& id) override;
  Result<FoundJobs> FindJobs(const JobKeys& keys) override;
  Result<JobHead> GetJobHead(const JobId& id) override;
  Result<JobPage> ListJobs(const JobFilter& filter) override;
  Result<BoundedCount> CountJobs(const JobFilter& filter) override;
  Result<std::vector<std::string>> ListNamespaces(const std::string& after, size_t limit) override;
  Result<BoundedCount> CountNamespaces() override;
  Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                               size_t limit) override;
  Result<BoundedCount> CountVersions(const JobId& id) override;
  Result<StoredJob> ReplaceJob(const JobId& id, int64_t expected_version,
                               const JobDefinition& definition,
                               const WriteContext& context) override;
  Result<StoredJob> PauseJob(const JobId& id, const std::string& reason,
                             const WriteContext& context) override;
  Result<StoredJob> ResumeJob(const JobId& id, const std::string& reason,
                              const WriteContext& context) override;
  Result<JobDependencies> ListDependencies(const JobId& id) override;
  Status DeleteJob(const JobId& id, int64_t expected_version, const WriteContext& context) override;

 private:
  Status RaiseFlags(const std::vector<JobId>& upstream);

  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
