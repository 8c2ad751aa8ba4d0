// Interface between a journal and its disk: executes one order at a time.
//
// Place    Below segment_log. InlineDevice for owners that may block; ThreadDevice for the warden,
//          whose loop must not.
// Threads  ExecuteOrder: any one thread. It takes no lock and allocates nothing, only makes system
//          calls on what the order already holds. Therefore a process that forks meanwhile never
//          copies a C library lock that this thread holds.
// Errors   DeviceOrder::error is an errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace carillon::executor {

// One order: its kind, the arguments of that kind, and its outcome.
struct DeviceOrder {
  enum class Kind {
    kWrite,     // writes `bytes` to `fd` at `offset`
    kSync,      // fdatasync of `fd`
    kSeal,      // truncates `fd` to `offset` bytes and closes it
    kCreate,    // makes `path`, `offset` bytes long, allocated and synced
    kActivate,  // renames `path` to `target`, syncs `directory`, opens `target`
    kDelete,    // deletes `path`
    kRead,      // reads `path` at `offset` into `bytes`, at most its size
    kLog,       // appends `bytes` to `fd`
    kSpace,     // reads the free space of the file system of `path`
  };
  Kind kind = Kind::kSync;
  int fd = -1;
  std::string path;
  std::string target;
  std::string directory;
  std::string bytes;
  size_t offset = 0;
  // The outcome, set by the device.
  int error = 0;
  int opened = -1;           // kActivate: the descriptor
  bool renamed = false;      // kActivate: the rename worked, even if a later step failed
  size_t done = 0;           // kRead: bytes read
  uint64_t free_bytes = 0;   // kSpace
  uint64_t free_inodes = 0;  // kSpace; UINT64_MAX if the file system has no inode limit
};

// kExhausted if `error`, an errno, means that the device is full; otherwise kUnavailable.
Error DeviceError(const std::string& what, int error);

void ExecuteOrder(DeviceOrder& order);
using OrderExecutor = void (*)(DeviceOrder&);

class JournalDevice {
 public:
  virtual ~JournalDevice() = default;
  // The device owns `order` until Done(); only one order at a time.
  virtual void Submit(DeviceOrder* order) = 0;
  // True once the last order is finished. Never waits.
  virtual bool Done() = 0;
  virtual void Wait() = 0;
};

// Executes each order immediately, in the caller's thread.
class InlineDevice : public JournalDevice {
 public:
  explicit InlineDevice(OrderExecutor execute = &ExecuteOrder) : execute_(execute) {}
  void Submit(DeviceOrder* order) override { execute_(*order); }
  bool Done() override { return true; }
  void Wait() override {}

 private:
  const OrderExecutor execute_;
};

}  // namespace carillon::executor
