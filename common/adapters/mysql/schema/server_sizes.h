// Sizes of the private server by the memory that is there.
//
// Place    cli/standalone asks once, before it starts the server.
// Errors   None: a limit that cannot be read is none.
#pragma once

#include <cstdint>
#include <string>

namespace carillon::mysql {

inline constexpr int64_t kBufferPoolBytesLeast = 128ll << 20;  // without a setting
inline constexpr int64_t kBufferPoolBytesMost = 1ll << 30;     // without a setting
inline constexpr int64_t kMemoryShare = 8;                     // of it one part is the pool
inline constexpr int64_t kBufferPoolMibLeast = 16;             // with a setting
inline constexpr int64_t kRedoLogBytesLeast = 128ll << 20;
inline constexpr int64_t kRedoLogBytesMost = 512ll << 20;  // the server writes it full at once

struct ServerSizes {
  int64_t buffer_pool_bytes = 0;
  int64_t redo_log_bytes = 0;
};

// `buffer_pool_mib`: the setting; 0 = by `memory_bytes`. The redo log follows the pool: pages wait
// in it to be written, and where it is much smaller the server stops to write them.
ServerSizes SizesOf(int64_t buffer_pool_mib, int64_t memory_bytes);

// Memory that this process may use, in bytes: the machine's, or the smallest limit of the control
// groups (version 2) that it is in.
int64_t MemoryBytes();
// The smaller one of `memory_bytes` and the limits of `group`, a path such as "/a/b" below `root`,
// and of the groups around it.
int64_t WithinGroup(const std::string& root, std::string group, int64_t memory_bytes);

}  // namespace carillon::mysql
