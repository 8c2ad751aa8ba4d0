#include "executor/warden/container/container_driver.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "executor/journal/file_descriptor.h"
#include "executor/warden/container/container_record.h"
#include "executor/warden/container/engine_client.h"

namespace carillon::executor {
namespace {

constexpr timespec kSecond{1, 0};
constexpr int kExitTerminated = 143;

class ContainerDriver {
 public:
  ContainerDriver(ContainerRecord record, std::string record_file)
      : record_(std::move(record)), record_file_(std::move(record_file)) {
    // These wait until the driver asks for them: a signal must not interrupt a step.
    sigemptyset(&awaited_);
    for (const int wanted : {SIGTERM, SIGCHLD}) sigaddset(&awaited_, wanted);
    sigprocmask(SIG_BLOCK, &awaited_, nullptr);
  }

  int Run() {
    const std::string id = Create();
    if (terminated_) return kExitTerminated;
    if (id.empty()) {
      return End({.kind = ContainerEnd::Kind::kNotStarted,
                  .text = "the engine could not create the container; the output has its reason"});
    }
    if (!Attach(id)) {
      return End({.kind = ContainerEnd::Kind::kNotStarted, .text = "cannot start " + record_.engine});
    }
    return End(WaitForEnd(id));
  }

 private:
  int End(const ContainerEnd& end) const {
    const Status written = WriteEnd(record_file_, end);
    if (written.ok()) return 0;
    std::fprintf(stderr, "carillon: %s\n", written.error().message.c_str());
    return 1;
  }

  // Waits for the client to exit. After SIGTERM it returns false at once, and then each second: an engine that was
  // asked to stop the container before it ran has done nothing.
  bool WaitFor(pid_t client) {
    for (;;) {
      if (waitpid(client, nullptr, WNOHANG) == client) return true;
      const int got = sigtimedwait(&awaited_, nullptr, &kSecond);
      terminated_ = terminated_ || got == SIGTERM;
      if (terminated_ && got != SIGCHLD) return false;
    }
  }

  // Only this command line has the variables of the job, some of which are secrets.
  std::string Create() {
    std::vector<std::string> env = record_.client_env;
    for (char** entry = environ; *entry != nullptr; ++entry) env.emplace_back(*entry);
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return {};
    const FileDescriptor read_end(fds[0]);
    FileDescriptor write_end(fds[1]);
    fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    const pid_t client = StartClient(
        {.engine = record_.engine, .arguments = record_.create, .env = env, .quiet = false}, write_end.get());
    write_end.Close();
    if (client < 0 || !WaitFor(client)) return {};
    // The id fits into the pipe.
    char buffer[4096];
    const ssize_t n = read(read_end.get(), buffer, sizeof(buffer));
    return n > 0 ? ParseId(std::string_view(buffer, static_cast<size_t>(n))) : std::string();
  }

  // Starts the container and passes its output on until that ends.
  bool Attach(const std::string& id) {
    const EngineWords start = StartCommand(id);
    const pid_t client = StartClient(
        {.engine = record_.engine, .arguments = start, .env = record_.client_env, .quiet = false}, -1);
    if (client < 0) return false;
    while (!WaitFor(client)) Stop(id);
    return true;
  }

  void Stop(const std::string& id) {
    const EngineWords stop = StopCommand(id, record_.grace_s);
    if (stopper_ > 0 && waitpid(stopper_, nullptr, WNOHANG) != stopper_) return;
    stopper_ = StartClient({.engine = record_.engine, .arguments = stop, .env = record_.client_env}, -1);
  }

  // The connection to the output may break while the container runs on.
  ContainerEnd WaitForEnd(const std::string& id) {
    const EngineWords inspect = InspectCommand(id);
    const EngineWords list = ListCommand(record_.warden_id);
    bool told = false;
    for (;;) {
      const EngineAnswer state = AskEngine({record_.engine, inspect, record_.client_env});
      const Inspection inspection = state.ok ? DecideAfterInspect(state.text) : Inspection{};
      if (inspection.step == AfterInspect::kOver) return inspection.end;
      if (!state.ok && Gone(list, id)) return {.kind = ContainerEnd::Kind::kRemoved};
      if (!std::exchange(told, true)) {
        std::fprintf(stderr, "carillon: the connection to the container's output was lost\n");
      }
      if (sigtimedwait(&awaited_, nullptr, &kSecond) == SIGTERM) Stop(id);
    }
  }

  bool Gone(const EngineWords& list, const std::string& id) const {
    const EngineAnswer answer = AskEngine({record_.engine, list, record_.client_env});
    const auto listed = answer.ok ? ParseList(answer.text) : std::nullopt;
    if (!listed) return false;
    for (const ListedContainer& container : *listed) {
      if (container.id == id) return false;
    }
    return true;
  }

  const ContainerRecord record_;
  const std::string record_file_;
  sigset_t awaited_{};
  bool terminated_ = false;
  pid_t stopper_ = -1;
};

}  // namespace

int RunContainerDriver(const std::string& record_file) {
  auto record = ReadRecord(record_file);
  if (!record.ok()) {
    std::fprintf(stderr, "carillon: %s\n", record.error().message.c_str());
    return 1;
  }
  return ContainerDriver(*std::move(record), record_file).Run();
}

}  // namespace carillon::executor
