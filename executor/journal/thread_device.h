// Executes a journal's orders on a thread of its own, so that a loop never waits for the disk.
//
// Place    Between the warden's loop and its journal.
// Threads  Submit, Done and Wait: one thread, the caller's. Orders run on the device's own thread.
// Owns     One thread, two eventfds.
// Always   After Create the device's thread runs only ExecuteOrder (or its substitute) and system
//          calls: it takes no lock and allocates nothing. The child of a fork made meanwhile may
//          therefore use the whole C library. The child has no such thread and must not use the
//          device.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "common/base/file_descriptor.h"
#include "common/base/result.h"
#include "executor/journal/journal_device.h"

namespace carillon::executor {

class ThreadDevice : public JournalDevice {
 public:
  // kUnavailable: no descriptors or no thread. All signals are blocked in the new thread.
  static Result<std::unique_ptr<ThreadDevice>> Create(OrderExecutor execute = &ExecuteOrder);
  // Waits for the order under way.
  ~ThreadDevice() override;

  void Submit(DeviceOrder* order) override;
  bool Done() override;
  void Wait() override;

  // An eventfd that is signalled when an order is finished. Only Wait reads it, so watch it
  // edge-triggered. A signal may arrive late, when the next order is already under way.
  int done_fd() const { return done_event_.get(); }

 private:
  explicit ThreadDevice(OrderExecutor execute) : execute_(execute) {}
  void Run();

  const OrderExecutor execute_;
  FileDescriptor work_event_;  // read by the thread, blocking
  FileDescriptor done_event_;
  std::atomic<DeviceOrder*> order_{nullptr};  // null: no order, or finished
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace carillon::executor
