// Chooses the sizes of the private server's buffers and logs by the available memory.
//
// Place    cli/standalone asks once, before it starts the server.
// Errors   None: a limit that cannot be read counts as no limit.
#pragma once

#include <cstdint>
#include <string>

namespace carillon::mysql {

inline constexpr int64_t kBufferPoolBytesLeast = 128ll << 20;  // if buffer_pool_mib is 0
inline constexpr int64_t kBufferPoolBytesMost = 1ll << 30;     // if buffer_pool_mib is 0
inline constexpr int64_t kMemoryShare = 8;                     // the pool gets 1/8 of the memory
inline constexpr int64_t kBufferPoolMibLeast = 16;             // if buffer_pool_mib is not 0
inline constexpr int64_t kRedoLogBytesLeast = 128ll << 20;
inline constexpr int64_t kRedoLogBytesMost = 512ll << 20;  // written in full at creation

struct ServerSizes {
  int64_t buffer_pool_bytes = 0;
  int64_t redo_log_bytes = 0;
};

// `buffer_pool_mib`: the setting store.buffer_pool_mib; 0 = chosen by `memory_bytes`. The redo log
// grows with the pool, because it covers the pool's changed pages. If the log is much smaller than
// the pool, the server stalls while it writes these pages.
ServerSizes SizesOf(int64_t buffer_pool_mib, int64_t memory_bytes);

// Returns the memory that this process may use, in bytes: the smallest of the machine's memory and
// the limits of the control groups (version 2) that contain the process.
int64_t MemoryBytes();
// Returns the smallest of `memory_bytes`, the limit of `group`, and the limits of the groups that
// contain `group`. `group` is a path below `root`, such as "/a/b".
int64_t WithinGroup(const std::string& root, std::string group, int64_t memory_bytes);

}  // namespace carillon::mysql
