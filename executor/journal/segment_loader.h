// Loads the segments of a log from its directory and syncs them. The process that wrote them may
// have died before it synced them.
//
// Place    Under segment_log, which calls it once. Waits for the device.
// Errors   kUnavailable: the directory cannot be read or written. A torn or corrupt record ends its
//          segment. The rest of the segment is ignored, but kept for inspection.
#pragma once

#include <string>

#include "common/base/result.h"
#include "executor/journal/journal_device.h"
#include "executor/journal/segment_index.h"

namespace carillon::executor {

struct LoadedSegments {
  RecordId last_id = 0;  // the highest id that was ever used
  size_t corrupt_segments = 0;
};

// Creates the directory (0700) when missing, and deletes spare files in it. `index` must be empty.
Result<LoadedSegments> LoadSegments(const std::string& directory, JournalDevice& device,
                                    SegmentIndex* index);

}  // namespace carillon::executor
