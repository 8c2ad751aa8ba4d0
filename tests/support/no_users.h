// ProcessUsers of an executor that allows no user.
#pragma once

#include "common/ports/executor_host.h"

namespace carillon::test {

struct NoUsers : ProcessUsers {
  Result<ProcessUser> Find(const std::string& name) override {
    return {ErrorCode::kDenied, "the user " + name + " is not allowed"};
  }
  Result<ProcessUser> Own() override { return {ErrorCode::kNotFound, "no entry"}; }
};

}  // namespace carillon::test
