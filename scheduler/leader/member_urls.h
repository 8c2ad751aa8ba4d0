// URLs at which members are reached, as they announce them.
#pragma once

#include <string>

namespace carillon::scheduler {

struct MemberUrls {
  std::string rest;
  std::string ops;  // health and metrics
};

}  // namespace carillon::scheduler
