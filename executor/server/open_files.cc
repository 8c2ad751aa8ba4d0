#include "executor/server/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/base/log.h"

namespace carillon::executor {

OpenFiles RaiseOpenFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    log::Warn("executor", "the limit of open files is not known: {}", std::strerror(errno));
    return {};
  }
  const uint64_t before = limit.rlim_cur;
  const uint64_t wanted =
      std::max<uint64_t>(before, std::min<uint64_t>(limit.rlim_max, kOpenFilesWanted));
  if (wanted == before) return {before, before};
  limit.rlim_cur = wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return {before, wanted};
  log::Warn("executor", "the limit of open files stays at {}: {}", before, std::strerror(errno));
  return {before, before};
}

}  // namespace carillon::executor
