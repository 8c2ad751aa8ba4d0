// Interface from a journal to its disk, one order at a time, and the thread that carries the
// orders out.
//
// Place    Below segment_log. InlineDevice for owners that may wait; ThreadDevice for the warden,
//          whose loop must not.
// Threads  ExecuteOrder: any one thread. It takes no lock and allocates nothing: only system calls
//          on what the order already holds, so that a fork beside it finds no lock of the library
//          taken.
// Errors   In DeviceOrder::error, an errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace carillon::executor {

struct DeviceOrder {
  enum class Kind {
    kWrite,     // `bytes` to `fd` at `offset`
    kSync,      // `fd`
    kSeal,      // cuts `fd` to `offset` bytes and closes it
    kCreate,    // `path`, `offset` bytes long, allocated and synced
    kActivate,  // renames `path` to `target`, syncs `directory`, opens it
    kDelete,    // `path`
    kRead,      // `path` at `offset` into `bytes`, as many as it has
    kLog,       // appends `bytes` to `fd`
    kSpace,     // how much is free where `path` is
  };
  Kind kind = Kind::kSync;
  int fd = -1;
  std::string path;
  std::string target;
  std::string directory;
  std::string bytes;
  size_t offset = 0;
  // What came of it.
  int error = 0;
  int opened = -1;           // kActivate
  bool renamed = false;      // kActivate, also when it failed later
  size_t done = 0;           // kRead: bytes read
  uint64_t free_bytes = 0;   // kSpace
  uint64_t free_inodes = 0;  // kSpace; UINT64_MAX where there is no such limit
};

void ExecuteOrder(DeviceOrder& order);
using OrderExecutor = void (*)(DeviceOrder&);

class JournalDevice {
 public:
  virtual ~JournalDevice() = default;
  // `order` belongs to the device until Done(); one at a time.
  virtual void Submit(DeviceOrder* order) = 0;
  // Whether the last order is over. Never waits.
  virtual bool Done() = 0;
  virtual void Wait() = 0;
};

// Carries orders out at once, in the caller.
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
