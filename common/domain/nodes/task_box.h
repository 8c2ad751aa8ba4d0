// A definition within a definition: the task of a workflow's node. Immutable, shared between
// copies, compared by value.
#pragma once

#include <memory>

namespace carillon {

struct JobDefinition;  // job.h includes the header of workflows, which includes this one

class TaskBox {
 public:
  TaskBox() = default;
  explicit TaskBox(JobDefinition job);

  bool empty() const { return job_ == nullptr; }
  const JobDefinition& job() const;  // only if it is not empty

  bool operator==(const TaskBox& other) const;

 private:
  std::shared_ptr<const JobDefinition> job_;
};

}  // namespace carillon
