// Reads the earliest rows of many segments. Each segment is a range of an index. First reads a few
// rows of each segment, then more if these were not enough. So the whole backlog of a segment is
// not read.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/base/ids.h"

namespace carillon::mysql {

inline constexpr size_t kFirstRowsPerSegment = 16;

// Joins `count` copies of `branch`, a SELECT with a LIMIT for one segment: "(… LIMIT ?) UNION ALL
// (… LIMIT ?)".
inline std::string UnionOf(const std::string& branch, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += " UNION ALL ";
    text += "(" + branch + ")";
  }
  return text;
}

// Returns the first `limit` rows of all segments together, in the order of `order_of(row)`.
// `segments` is their number.
//   fetch(rows_per_segment) -> Result<std::vector<Row>>: the first `rows_per_segment` rows of each
//                             segment, or fewer if the segment has fewer
//   segment_of(row) -> SegmentId, order_of(row)
template <typename Row, typename Fetch, typename SegmentOf, typename OrderOf>
Result<std::vector<Row>> MergeSegments(size_t segments, size_t limit, Fetch fetch,
                                       SegmentOf segment_of, OrderOf order_of) {
  size_t share = std::min(limit, std::max(kFirstRowsPerSegment, 2 * limit / segments + 1));
  while (true) {
    CARILLON_ASSIGN_OR_RETURN(std::vector<Row> rows, fetch(share));
    std::sort(rows.begin(), rows.end(),
              [&](const Row& a, const Row& b) { return order_of(a) < order_of(b); });
    // If `share` rows were fetched of a segment, the segment may have more rows after the last row.
    // So the merged order is complete only up to the earliest of these last rows.
    std::map<SegmentId, size_t> seen;
    size_t known = rows.size();
    bool complete = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (++seen[segment_of(rows[i])] < share) continue;
      known = i + 1;
      complete = false;
      break;
    }
    if (complete || known >= limit || share >= limit) {
      rows.resize(std::min(known, limit));
      return rows;
    }
    share = std::min(limit, share * 4);
  }
}

}  // namespace carillon::mysql
