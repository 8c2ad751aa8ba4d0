#include "tests/support/java_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/check.h"
#include "tests/support/source_file.h"

namespace carillon::test {
namespace {

// setpriv sets the signal that ends the server when this process ends, and then executes java.
std::vector<std::string> Command(const std::vector<std::string>& arguments) {
  const char* jars = std::getenv("CARILLON_JARS");
  CARILLON_CHECK(jars != nullptr, "CARILLON_JARS names the directory of the server jars");
  std::vector<std::string> command = {
      "setpriv",
      "--pdeathsig",
      "KILL",
      "java",
      "-Xmx192m",
      "-XX:+UseSerialGC",
      "-XX:TieredStopAtLevel=1",
      "-XX:-UsePerfData",
      "-Dzookeeper.preAllocSize=64",
      "-Dlogback.configurationFile=" + SourceFile("deploy/servers/logback.xml"),
      "-cp",
      std::string(jars) + "/*"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

uint16_t FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CARILLON_CHECK(fd >= 0, "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  CARILLON_CHECK(bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0, "bind");
  close(fd);
  return ntohs(address.sin_port);
}

JavaProcess::JavaProcess(std::vector<std::string> arguments, std::string log_path)
    : arguments_(std::move(arguments)), log_path_(std::move(log_path)) {}

JavaProcess::~JavaProcess() {
  if (running()) Signal(SIGKILL);
}

void JavaProcess::Start() {
  CARILLON_CHECK(!running(), "started twice");
  const std::vector<std::string> command = Command(arguments_);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  const int error = posix_spawnp(&pid_, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  CARILLON_CHECK(error == 0, "setpriv cannot be started");
}

void JavaProcess::Signal(int signal) {
  CARILLON_CHECK(running(), "not started");
  kill(pid_, signal);
  if (signal == SIGKILL || signal == SIGTERM) Wait();
  if (signal != SIGSTOP) return;
  int status = 0;  // the process may still run for a moment after the signal
  while (waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) continue;
  CARILLON_CHECK(WIFSTOPPED(status), "ended instead of stopping");
}

int JavaProcess::Wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace carillon::test
