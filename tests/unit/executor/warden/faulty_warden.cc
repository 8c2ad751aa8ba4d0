// A carillon-warden with a faulty disk, which a test controls with files in the warden's directory:
//   stall-<order>    the order waits for a lock on this file, after it has created stalled-<order>
//   fail-<order>     the order fails with EIO and has no effect
// where <order> is write, sync or create. stall-outputs does the same to keepers that are to read
// the outputs of an attempt. It takes the same arguments as carillon-warden.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "common/adapters/system/system_clock.h"
#include "executor/warden/process/daemonize.h"
#include "executor/warden/server/warden_server.h"

namespace {

using carillon::executor::DeviceOrder;

int directory = -1;

struct Fault {
  DeviceOrder::Kind kind;
  const char* stall;
  const char* stalled;
  const char* fail;
};
constexpr Fault kFaults[] = {
    {DeviceOrder::Kind::kWrite, "stall-write", "stalled-write", "fail-write"},
    {DeviceOrder::Kind::kSync, "stall-sync", "stalled-sync", "fail-sync"},
    {DeviceOrder::Kind::kCreate, "stall-create", "stalled-create", "fail-create"},
};

// Waits for a lock on the file `stall`, if there is one, after it has created `stalled`.
void WaitAtGate(int in, const char* stall, const char* stalled) {
  const int gate = openat(in, stall, O_RDONLY | O_CLOEXEC);
  if (gate < 0) return;
  close(openat(in, stalled, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  while (flock(gate, LOCK_SH) != 0 && errno == EINTR) {
  }
  close(gate);
}

// In a keeper, which has closed the descriptor of the directory.
std::optional<carillon::executor::OutputFile> ReadFromFaultyDisk(const std::string& path) {
  const std::string place = std::filesystem::path(path).parent_path().parent_path();
  const int in = open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  WaitAtGate(in, "stall-outputs", "stalled-outputs");
  close(in);
  return carillon::executor::ReadOutputFile(path);
}

// Uses only system calls, like the code that it replaces.
void ExecuteOnFaultyDisk(DeviceOrder& order) {
  for (const Fault& fault : kFaults) {
    if (fault.kind != order.kind) continue;
    WaitAtGate(directory, fault.stall, fault.stalled);
    if (faccessat(directory, fault.fail, F_OK, 0) == 0) {
      order.error = EIO;
      return;
    }
  }
  carillon::executor::ExecuteOrder(order);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace carillon::executor;
  if (argc < 3) return 2;
  const std::string path = argv[2];
  if (!Daemonize(path + "/" + kWardenLog).ok()) return 1;
  directory = open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const carillon::SystemClock clock;
  auto server = WardenServer::Create(
      clock,
      {.directory = path, .execute = &ExecuteOnFaultyDisk, .read_outputs = &ReadFromFaultyDisk});
  if (!server.ok()) {
    std::fprintf(stderr, "faulty-warden: %s\n", server.error().message.c_str());
    return server.code() == carillon::ErrorCode::kConflict ? 0 : 1;
  }
  (*server)->Run();
  return 0;
}
