// The row of a part that a begin adds to its fire. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/domain/parts/fire_end.h"
#include "common/domain/run/returns.h"

namespace carillon {

// `known`: the last attempt of a part with this shard that the fire had before it began with fewer;
// 0 = none. The new part goes on from it, since an executor may still know that attempt by its
// number, but has not been tried.
inline RunRow NewPart(const RunRow& own, uint32_t shard, size_t total, int known, WallTime now) {
  RunRow row{.key = {own.key.fire, own.key.schedule_id, shard},
             .job_no = own.job_no,
             .segment = own.segment,
             .kind = RunKind::kShard,
             .attempt = known + 1,
             .due = now,
             .priority = own.priority,
             .def_version = own.def_version,
             .shard_total = static_cast<uint32_t>(total),
             .flags = FlagsOfPart(own),
             .rules = own.rules};
  for (int i = 0; i < known; ++i) CountReturn(row);
  return row;
}

}  // namespace carillon
