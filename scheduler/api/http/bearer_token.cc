#include "scheduler/api/http/bearer_token.h"

#include <string_view>

#include "common/base/lower_case.h"

namespace carillon::scheduler {
namespace {

constexpr std::string_view kScheme = "bearer ";

}  // namespace

std::string BearerToken(const HttpRequest& request) {
  if (request.CountHeader("authorization") != 1) return {};
  std::string_view value = *request.Header("authorization");
  if (LowerCase(value.substr(0, kScheme.size())) != kScheme) return {};
  value.remove_prefix(kScheme.size());
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  return std::string(value);
}

}  // namespace carillon::scheduler
