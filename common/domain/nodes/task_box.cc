#include "common/domain/nodes/task_box.h"

#include <utility>

#include "common/domain/job/job.h"

namespace carillon {

TaskBox::TaskBox(JobDefinition job) : job_(std::make_shared<const JobDefinition>(std::move(job))) {}

const JobDefinition& TaskBox::job() const { return *job_; }

bool TaskBox::operator==(const TaskBox& other) const {
  if (job_ == other.job_) return true;
  return job_ != nullptr && other.job_ != nullptr && *job_ == *other.job_;
}

}  // namespace carillon
