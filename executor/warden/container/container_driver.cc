#include "executor/warden/container/container_driver.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "common/base/file_descriptor.h"
#include "executor/warden/container/container_start.h"
#include "executor/warden/container/engine_client.h"

namespace carillon::executor {
namespace {

constexpr timespec kSecond{1, 0};
constexpr int kExitTerminated = 143;

// The exit code says nothing about the container: whoever has no end asks the engine.
int TellEnd(const std::string& record_file, const ContainerEnd& end) {
  const Status written = WriteEnd(record_file, end);
  if (written.ok()) return 0;
  std::fprintf(stderr, "carillon: %s\n", written.error().message.c_str());
  return 1;
}

int TellNotStarted(const std::string& record_file, const std::string& why) {
  return TellEnd(record_file, {.kind = ContainerEnd::Kind::kNotStarted, .text = why});
}

std::string ReadInput() {
  std::string bytes;
  char buffer[8192];
  for (;;) {
    const ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(n));
  }
}

class ContainerDriver {
 public:
  ContainerDriver(ContainerRecord record, DriverInput input, std::string record_file)
      : record_(std::move(record)), input_(std::move(input)), record_file_(std::move(record_file)) {
    // These wait until the driver asks for them: a signal must not interrupt a step.
    sigemptyset(&awaited_);
    for (const int wanted : {SIGTERM, SIGCHLD}) sigaddset(&awaited_, wanted);
    sigprocmask(SIG_BLOCK, &awaited_, nullptr);
  }

  int Run() {
    const std::string id = Create();
    if (terminated_) return kExitTerminated;
    if (id.empty()) {
      return TellNotStarted(record_file_,
                            "the engine could not create the container; the output has its reason");
    }
    if (const std::string missing = MissingLimits(id); !missing.empty()) {
      return TellNotStarted(record_file_, "the engine does not enforce " + missing +
                                              "; the container was not started");
    }
    if (terminated_) return kExitTerminated;
    if (!Attach(id)) return TellNotStarted(record_file_, "cannot start " + record_.engine);
    ContainerEnd end = WaitForEnd(id);
    end.stopped = stopper_ > 0;
    const auto patterns =
        input_.masked.empty() ? nullptr : std::make_shared<const SecretPatterns>(input_.masked);
    AddOutputsOf(end, record_.outputs_file, patterns);
    return TellEnd(record_file_, end);
  }

 private:
  // Waits for the client to exit. After SIGTERM it returns false at once, and then each second: an
  // engine that was asked to stop the container before it ran has done nothing.
  bool WaitFor(pid_t client) {
    for (;;) {
      if (waitpid(client, nullptr, WNOHANG) == client) return true;
      const int got = sigtimedwait(&awaited_, nullptr, &kSecond);
      terminated_ = terminated_ || got == SIGTERM;
      if (terminated_ && got != SIGCHLD) return false;
    }
  }

  // Only this command line gets the variables of the job, some of which are secrets.
  std::string Create() {
    std::vector<std::string> env = record_.client_env;
    env.insert(env.end(), input_.variables.begin(), input_.variables.end());
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return {};
    const FileDescriptor read_end(fds[0]);
    FileDescriptor write_end(fds[1]);
    fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    const pid_t client = StartClient({.engine = record_.engine,
                                      .arguments = record_.create,
                                      .env = env,
                                      .quiet = false,
                                      .input = input_.env_file},
                                     write_end.get());
    write_end.Close();
    if (client < 0 || !WaitFor(client)) return {};
    // The id fits into the pipe.
    char buffer[4096];
    const ssize_t n = read(read_end.get(), buffer, sizeof(buffer));
    return n > 0 ? ParseId(std::string_view(buffer, static_cast<size_t>(n))) : std::string();
  }

  // Some engines warn about a limit that they cannot enforce, and go on without it. Names the first
  // of these.
  std::string MissingLimits(const std::string& id) {
    if (!record_.limits) return {};
    const EngineArguments inspect = InspectLimitsCommand(id);
    for (;;) {
      const EngineAnswer answer = AskEngine({record_.engine, inspect, record_.client_env});
      if (answer.ok) return FindMissingLimit(*record_.limits, answer.text);
      const int got = sigtimedwait(&awaited_, nullptr, &kSecond);
      terminated_ = terminated_ || got == SIGTERM;
      if (terminated_) return {};
    }
  }

  // Starts the container and passes its output on until that ends.
  bool Attach(const std::string& id) {
    const EngineArguments start = StartCommand(id);
    const pid_t client = StartClient(
        {.engine = record_.engine, .arguments = start, .env = record_.client_env, .quiet = false},
        -1);
    if (client < 0) return false;
    while (!WaitFor(client)) Stop(id);
    return true;
  }

  void Stop(const std::string& id) {
    const EngineArguments stop = StopCommand(id, record_.grace_s);
    if (stopper_ > 0 && waitpid(stopper_, nullptr, WNOHANG) != stopper_) return;
    stopper_ =
        StartClient({.engine = record_.engine, .arguments = stop, .env = record_.client_env}, -1);
  }

  // The connection to the output may break while the container runs on.
  ContainerEnd WaitForEnd(const std::string& id) {
    const EngineArguments inspect = InspectCommand(id);
    const EngineArguments list = ListCommand(record_.warden_id);
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

  bool Gone(const EngineArguments& list, const std::string& id) const {
    const EngineAnswer answer = AskEngine({record_.engine, list, record_.client_env});
    const auto listed = answer.ok ? ParseList(answer.text) : std::nullopt;
    if (!listed) return false;
    for (const ListedContainer& container : *listed) {
      if (container.id == id) return false;
    }
    return true;
  }

  const ContainerRecord record_;
  const DriverInput input_;
  const std::string record_file_;
  sigset_t awaited_{};
  bool terminated_ = false;
  pid_t stopper_ = -1;
};

}  // namespace

int RunContainerDriver(const std::string& record_file) {
  auto record = ReadRecord(record_file);
  if (!record.ok()) return TellNotStarted(record_file, record.error().message);
  auto input = DecodeInput(ReadInput());
  if (!input) return TellNotStarted(record_file, "the variables of the container cannot be read");
  return ContainerDriver(*std::move(record), *std::move(input), record_file).Run();
}

}  // namespace carillon::executor
