#include "common/base/loops/worker_pool.h"

#include <utility>

namespace carillon {

WorkerPool::WorkerPool(const Options& options) : queue_max_(options.queue_max) {
  threads_.reserve(options.threads);
  for (size_t i = 0; i < options.threads; ++i) threads_.emplace_back([this] { Run(); });
}

bool WorkerPool::TryPost(std::function<void()> task) {
  {
    const std::lock_guard lock(mu_);
    if (stopping_ || tasks_.size() >= queue_max_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mu_);
    stopping_ = true;
    dropped.swap(tasks_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::Run() {
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(mu_);
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace carillon
