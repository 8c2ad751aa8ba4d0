#include "common/adapters/mysql/schema/id_blocks.h"

#include <algorithm>

namespace carillon::mysql {

Result<uint64_t> IdBlocks::Next(Pool& pool, const std::string& name, uint64_t count) {
  MutexLock lock(mu_);
  Block& block = blocks_[name];
  if (block.end - block.next < count) {
    const uint64_t size = std::max(count, kIdBlockSize);
    CARILLON_ASSIGN_OR_RETURN(
        const uint64_t first,
        ForgetTimeout(InTransaction(
            pool, {.operation = "numbers"}, [&](Session& session) -> Result<uint64_t> {
              uint64_t next = 0;
              {
                CARILLON_ASSIGN_OR_RETURN(
                    Rows rows,
                    session.Query("SELECT next_id FROM id_blocks WHERE name = ? FOR UPDATE",
                                  {name}));
                if (!rows.Next()) return {ErrorCode::kBrokenStore, "numbers: no sequence " + name};
                next = rows.Unsigned(1);
              }
              CARILLON_ASSIGN_OR_RETURN(
                  const int64_t written,
                  session.Execute("UPDATE id_blocks SET next_id = ? WHERE name = ?",
                                  {next + size, name}));
              if (written != 1)
                return {ErrorCode::kBrokenStore, "numbers: sequence is gone: " + name};
              return next;
            })));
    block = {.next = first, .end = first + size};
  }
  const uint64_t taken = block.next;
  block.next += count;
  return taken;
}

void IdBlocks::Forget() {
  MutexLock lock(mu_);
  blocks_.clear();
}

}  // namespace carillon::mysql
