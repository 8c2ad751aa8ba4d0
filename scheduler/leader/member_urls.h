// The URLs that members announce to each other.
#pragma once

#include <string>

namespace carillon::scheduler {

struct MemberUrls {
  std::string rest;     // API and console
  std::string ops;      // health and metrics
  std::string console;  // the console, in links that people follow
};

}  // namespace carillon::scheduler
