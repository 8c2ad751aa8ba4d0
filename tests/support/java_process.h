// A server of build/jars as a child process: started, paused, killed, started again.
//
// Always   Ends with the test process, even one that was killed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace carillon::test {

// A port that was free a moment ago.
uint16_t FreePort();

class JavaProcess {
 public:
  // `arguments`: the main class and what follows it. Lines go to `log_path`.
  JavaProcess(std::vector<std::string> arguments, std::string log_path);
  ~JavaProcess();
  JavaProcess(const JavaProcess&) = delete;
  JavaProcess& operator=(const JavaProcess&) = delete;

  void Start();
  // Sends it; SIGKILL, SIGTERM and SIGSTOP are waited for.
  void Signal(int signal);
  // For one that ends by itself: its exit code, -1 when a signal ended it.
  int Wait();
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

 private:
  const std::vector<std::string> arguments_;
  const std::string log_path_;
  pid_t pid_ = 0;
};

}  // namespace carillon::test
