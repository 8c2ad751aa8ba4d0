// Runs handlers on worker threads, so that blocking calls (the store) never block an I/O thread.
//
// Threads  TryPost is safe from any thread and never blocks. Stop must not be called by a worker,
//          nor by two threads at a time.
// Always   At most `queue_max` tasks wait; a task runs at most once.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace carillon {

class WorkerPool {
 public:
  struct Options {
    size_t threads = 8;
    size_t queue_max = 256;  // waiting tasks
  };
  explicit WorkerPool(const Options& options);
  ~WorkerPool() { Stop(); }

  // Returns false if the queue is full or the pool is stopped; the task is then dropped.
  bool TryPost(std::function<void()> task);
  // Waits for the tasks in progress; tasks still waiting are dropped.
  void Stop();

 private:
  void Run();

  const size_t queue_max_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // guarded by mu_
  bool stopping_ = false;                    // guarded by mu_
  std::vector<std::thread> threads_;
};

}  // namespace carillon
