#include "executor/journal/journal_device.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace carillon::executor {
namespace {

int WriteFully(int fd, const std::string& bytes, size_t offset) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    done += static_cast<size_t>(n);
  }
  return 0;
}

int SyncDirectory(const char* path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error;
}

int Create(const char* path, size_t bytes) {
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (error == 0 && fsync(fd) != 0) error = errno;
  close(fd);
  if (error != 0) unlink(path);
  return error;
}

void Activate(DeviceOrder& order) {
  if (rename(order.path.c_str(), order.target.c_str()) != 0) {
    order.error = errno;
    return;
  }
  order.renamed = true;
  order.error = SyncDirectory(order.directory.c_str());
  if (order.error != 0) return;
  order.opened = open(order.target.c_str(), O_RDWR | O_CLOEXEC);
  if (order.opened < 0) order.error = errno;
}

void Space(DeviceOrder& order) {
  struct statvfs disk {};
  if (statvfs(order.path.c_str(), &disk) != 0) {
    order.error = errno;
    return;
  }
  order.free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  order.free_inodes = disk.f_files > 0 ? disk.f_favail : UINT64_MAX;
}

void Read(DeviceOrder& order) {
  const int fd = open(order.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    order.error = errno;
    return;
  }
  while (order.done < order.bytes.size()) {
    const ssize_t n = pread(fd, order.bytes.data() + order.done, order.bytes.size() - order.done,
                            static_cast<off_t>(order.offset + order.done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) order.error = errno;
    if (n <= 0) break;
    order.done += static_cast<size_t>(n);
  }
  close(fd);
}

}  // namespace

Error DeviceError(const std::string& what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {full ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
          what + ": " + std::strerror(error)};
}

void ExecuteOrder(DeviceOrder& order) {
  switch (order.kind) {
    case DeviceOrder::Kind::kWrite:
      order.error = WriteFully(order.fd, order.bytes, order.offset);
      break;
    case DeviceOrder::Kind::kSync: order.error = fdatasync(order.fd) == 0 ? 0 : errno; break;
    case DeviceOrder::Kind::kSeal:
      // A tail that could not be cut off is found when the segment is loaded, and only
      // repeats records.
      static_cast<void>(!ftruncate(order.fd, static_cast<off_t>(order.offset)));
      close(order.fd);
      break;
    case DeviceOrder::Kind::kCreate: order.error = Create(order.path.c_str(), order.offset); break;
    case DeviceOrder::Kind::kActivate: Activate(order); break;
    case DeviceOrder::Kind::kDelete: unlink(order.path.c_str()); break;
    case DeviceOrder::Kind::kRead: Read(order); break;
    case DeviceOrder::Kind::kSpace: Space(order); break;
    case DeviceOrder::Kind::kLog:
      static_cast<void>(!write(order.fd, order.bytes.data(), order.bytes.size()));
      break;
  }
}

}  // namespace carillon::executor
