#include "common/adapters/mysql/schema/server_sizes.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace carillon::mysql {

ServerSizes SizesOf(int64_t buffer_pool_mib, int64_t memory_bytes) {
  const int64_t share = memory_bytes / kMemoryShare >> 20 << 20;
  const int64_t pool = buffer_pool_mib > 0
                           ? std::max(buffer_pool_mib, kBufferPoolMibLeast) << 20
                           : std::clamp(share, kBufferPoolBytesLeast, kBufferPoolBytesMost);
  return {.buffer_pool_bytes = pool,
          .redo_log_bytes = std::clamp(pool, kRedoLogBytesLeast, kRedoLogBytesMost)};
}

int64_t WithinGroup(const std::string& root, std::string group, int64_t memory_bytes) {
  while (true) {
    std::ifstream file(root + group + "/memory.max");  // a number, or "max"
    if (int64_t limit = 0; file >> limit) memory_bytes = std::min(memory_bytes, limit);
    const size_t parent = group.rfind('/');
    if (parent == std::string::npos) return memory_bytes;
    group.resize(parent);
  }
}

int64_t MemoryBytes() {
  const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::/")) return WithinGroup("/sys/fs/cgroup", line.substr(3), machine);
  }
  return machine;
}

}  // namespace carillon::mysql
