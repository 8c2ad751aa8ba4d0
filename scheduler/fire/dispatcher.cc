#include "scheduler/fire/dispatcher.h"

#include <utility>

#include "common/base/log.h"
#include "scheduler/fire/task_builder.h"

namespace carillon::scheduler {

void Dispatcher::Add(const ExecutorCredits& credits, ExecutorCredits::Index executor,
                     TaskMessage task, WallTime now) {
  Bundle& bundle = bundles_[executor];
  const size_t bytes = TaskBytes(task);
  if (!bundle.tasks.empty() && bundle.bytes + bytes > kBundleBytesMax) {
    Send(credits, executor, bundle, now);
  }
  bundle.bytes += bytes;
  bundle.tasks.push_back(std::move(task));
  if (bundle.tasks.size() == TasksPerRecord(format_)) Send(credits, executor, bundle, now);
}

std::vector<RunKey> Dispatcher::Flush(const ExecutorCredits& credits, WallTime now) {
  for (auto& [executor, bundle] : bundles_) {
    if (!bundle.tasks.empty()) Send(credits, executor, bundle, now);
  }
  bundles_.clear();
  return std::exchange(refused_, {});
}

void Dispatcher::Send(const ExecutorCredits& credits, ExecutorCredits::Index executor,
                      Bundle& bundle, WallTime now) {
  const SealTarget target{.executor = credits.id(executor),
                          .incarnation = credits.incarnation(executor),
                          .expires = now + kBundleValid};
  const uint64_t key = TaskPartitionKey(target.executor);
  const Status sent =
      producer_.Send(kTasksTopic, key, SealTasks(bundle.tasks, target, signer_, format_));
  if (!sent.ok()) {
    metrics_.counter("carillon_queue_rejections_total", "bus").Add();
    log::Warn("fire", "publish: {}", sent.error().message);
    for (const TaskMessage& task : bundle.tasks) refused_.push_back(task.key);
  }
  bundle = {};
}

}  // namespace carillon::scheduler
