// Where a member is reached, as it tells the others.
#pragma once

#include <string>

namespace carillon::scheduler {

struct MemberUrls {
  std::string rest;
  std::string ops;  // health and metrics
};

}  // namespace carillon::scheduler
