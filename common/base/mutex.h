// Mutex with clang's thread-safety annotations (checked by the clang preset; no-ops under gcc).
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define CARILLON_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define CARILLON_THREAD_ANNOTATION(x)
#endif
#define GUARDED_BY(x) CARILLON_THREAD_ANNOTATION(guarded_by(x))
#define REQUIRES(x) CARILLON_THREAD_ANNOTATION(requires_capability(x))

namespace carillon {

class CARILLON_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() CARILLON_THREAD_ANNOTATION(acquire_capability()) { mu_.lock(); }
  void unlock() CARILLON_THREAD_ANNOTATION(release_capability()) { mu_.unlock(); }
  std::mutex& native() { return mu_; }

 private:
  std::mutex mu_;
};

class CARILLON_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mu) CARILLON_THREAD_ANNOTATION(acquire_capability(mu)) : mu_(mu) {
    mu_.lock();
  }
  ~MutexLock() CARILLON_THREAD_ANNOTATION(release_capability()) { mu_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

}  // namespace carillon
