// LoadSource that reads /proc and the file system of the data directory.
#pragma once

#include <string>

#include "executor/link/load_source.h"

namespace carillon::executor {

class ProcLoad : public LoadSource {
 public:
  explicit ProcLoad(std::string directory) : directory_(std::move(directory)) {}
  ExecutorLoad Sample() override;

 private:
  struct Ticks {
    uint64_t total = 0;
    uint64_t idle = 0;
    uint64_t io_wait = 0;
  };
  static Ticks ReadTicks();

  const std::string directory_;
  Ticks last_;
};

}  // namespace carillon::executor
