#include "executor/warden/container/engine_client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/file_descriptor.h"

namespace carillon::executor {
namespace {

constexpr size_t kAnswerBytesMax = 1u << 20;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Reads until the other side closes. False: silence for too long, or too much.
bool ReadAnswer(int fd, int silence_ms, std::string* text) {
  char buffer[4096];
  for (;;) {
    pollfd waited{fd, POLLIN, 0};
    const int ready = poll(&waited, 1, silence_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || text->size() > kAnswerBytesMax) return false;
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) return true;
    text->append(buffer, static_cast<size_t>(n));
  }
}

// False: it does not end.
bool WaitForEnd(pid_t client, int at_most_ms) {
  const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, client, 0)));
  if (!process.open()) return true;  // an old kernel: it is waited for as long as it takes
  for (;;) {
    pollfd waited{process.get(), POLLIN, 0};
    const int ended = poll(&waited, 1, at_most_ms);
    if (ended < 0 && errno == EINTR) continue;
    return ended > 0;
  }
}

// A file, because an engine opens it by its path.
FileDescriptor InputFile(std::string_view text) {
  FileDescriptor file(text.empty() ? open("/dev/null", O_RDONLY | O_CLOEXEC)
                                   : memfd_create("carillon-input", MFD_CLOEXEC));
  while (file.open() && !text.empty()) {
    const ssize_t n = write(file.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return FileDescriptor();
    text.remove_prefix(static_cast<size_t>(n));
    if (text.empty()) lseek(file.get(), 0, SEEK_SET);
  }
  return file;
}

}  // namespace

pid_t StartClient(const EngineCall& call, int output) {
  // Prepared before the fork: another thread may hold the allocator's lock.
  std::vector<std::string> words = {call.engine};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  const std::vector<char*> arguments = Pointers(words);
  const std::vector<char*> env = Pointers(call.env);
  const FileDescriptor input = InputFile(call.input);
  if (!input.open()) return -1;
  const pid_t parent = getpid();
  const pid_t client = fork();
  if (client != 0) return client;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  for (const int reset : {SIGPIPE, SIGXFSZ, SIGHUP, SIGTERM, SIGCHLD}) signal(reset, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(input.get(), STDIN_FILENO);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  if (call.quiet) dup2(null, STDERR_FILENO);
  close_range(3, ~0u, 0);
  execve(call.engine.c_str(), arguments.data(), env.data());
  _exit(127);
}

EngineAnswer AskEngine(const EngineCall& call, int silence_ms) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return {};
  const FileDescriptor read_end(fds[0]);
  FileDescriptor write_end(fds[1]);
  const pid_t client = StartClient(call, write_end.get());
  write_end.Close();
  if (client < 0) return {};
  EngineAnswer answer;
  const bool told =
      ReadAnswer(read_end.get(), silence_ms, &answer.text) && WaitForEnd(client, silence_ms);
  if (!told) kill(-client, SIGKILL);  // with what a script has started

  int status = 0;
  while (waitpid(client, &status, 0) < 0 && errno == EINTR) {
  }
  answer.ran = told;
  answer.ok = told && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return answer;
}

}  // namespace carillon::executor
