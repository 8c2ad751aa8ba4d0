// A server from build/jars as a child process that a test can start, pause, kill and restart.
//
// Always   The server ends when the test process ends, even if the test process is killed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace carillon::test {

// Returns a port that is free at this moment.
uint16_t FreePort();

class JavaProcess {
 public:
  // `arguments`: the main class and its arguments. The output goes to `log_path`.
  JavaProcess(std::vector<std::string> arguments, std::string log_path);
  ~JavaProcess();
  JavaProcess(const JavaProcess&) = delete;
  JavaProcess& operator=(const JavaProcess&) = delete;

  void Start();
  // Sends the signal. After SIGKILL, SIGTERM or SIGSTOP it waits until the process has
  // ended or stopped.
  void Signal(int signal);
  // Waits until the process ends by itself. Returns its exit code, or -1 if a signal ended it.
  int Wait();
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

 private:
  const std::vector<std::string> arguments_;
  const std::string log_path_;
  pid_t pid_ = 0;
};

}  // namespace carillon::test
