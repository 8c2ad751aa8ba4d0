#include "executor/journal/thread_device.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace carillon::executor {
namespace {

void Ring(int fd) {
  const uint64_t one = 1;
  while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void Clear(int fd) {
  uint64_t count = 0;
  while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR) {
  }
}

Error DeviceError(const char* what, int error) {
  return {ErrorCode::kUnavailable, std::string("journal: ") + what + ": " + std::strerror(error)};
}

}  // namespace

Result<std::unique_ptr<ThreadDevice>> ThreadDevice::Create(OrderExecutor execute) {
  std::unique_ptr<ThreadDevice> device(new ThreadDevice(execute));
  device->work_event_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  device->done_event_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!device->work_event_.open() || !device->done_event_.open()) {
    return DeviceError("eventfd", errno);
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Status started;
  try {
    device->thread_ = std::thread([raw = device.get()] { raw->Run(); });
  } catch (const std::system_error& error) {
    started = DeviceError("thread", error.code().value());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started.ok()) return started.error();
  return device;
}

ThreadDevice::~ThreadDevice() {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_release);
  Ring(work_event_.get());
  thread_.join();
}

void ThreadDevice::Submit(DeviceOrder* order) {
  order_.store(order, std::memory_order_release);
  Ring(work_event_.get());
}

bool ThreadDevice::Done() { return order_.load(std::memory_order_acquire) == nullptr; }

void ThreadDevice::Wait() {
  while (!Done()) {
    pollfd rung{done_event_.get(), POLLIN, 0};
    poll(&rung, 1, -1);
    Clear(done_event_.get());  // it may have been set for an earlier order
  }
}

void ThreadDevice::Run() {
  for (;;) {
    Clear(work_event_.get());
    DeviceOrder* const order = order_.load(std::memory_order_acquire);
    if (order != nullptr) {
      execute_(*order);
      order_.store(nullptr, std::memory_order_release);
      Ring(done_event_.get());  // last, so that a woken reader finds the order finished
    }
    if (stopping_.load(std::memory_order_acquire)) return;
  }
}

}  // namespace carillon::executor
