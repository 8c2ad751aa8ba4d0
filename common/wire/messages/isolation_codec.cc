#include "common/wire/messages/isolation_codec.h"

#include <algorithm>

#include "carillon/v1/task.pb.h"

namespace carillon::wire {

void EncodeLimits(const Limits& limits, v1::Limits& to) {
  to.set_memory_mb(limits.memory_mb);
  to.set_cpu(limits.cpu);
  to.set_pids(limits.pids);
  to.set_open_files(limits.open_files);
  to.set_file_size_mb(limits.file_size_mb);
  to.set_enforce(std::string(Name(limits.enforce)));
}

std::optional<Limits> DecodeLimits(const v1::Limits& from) {
  const auto enforce = ParseName<Enforce>(from.enforce());
  if (!enforce.ok()) return std::nullopt;
  const Limits limits{.memory_mb = from.memory_mb(),
                      .cpu = from.cpu(),
                      .pids = from.pids(),
                      .open_files = from.open_files(),
                      .file_size_mb = from.file_size_mb(),
                      .enforce = *enforce};
  if (!LimitsAnything(limits) || !CheckLimits(limits).ok()) return std::nullopt;
  return limits;
}

std::optional<std::vector<std::string>> DecodeNotEnforced(const v1::TaskResult& from) {
  std::vector<std::string> names;
  for (const std::string& name : from.limits_not_enforced()) {
    if (!IsLimitName(name) || std::count(names.begin(), names.end(), name) > 0) return std::nullopt;
    names.push_back(name);
  }
  return names;
}

}  // namespace carillon::wire
