// Rows of deliveries: notices on their way to their recipients.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/count_rows.h"
#include "common/ports/store/notice_store.h"

namespace carillon::mysql {

// Implement methods of NoticeStore. `segments` and `channels` are not empty.
Result<std::vector<Delivery>> ReadDueDeliveries(Session& session,
                                                const std::vector<SegmentId>& segments,
                                                const std::vector<DeliveryChannel>& channels,
                                                WallTime now, size_t limit);
Result<DeliveryBacklog> ReadDeliveryBacklog(Session& session,
                                            const std::vector<SegmentId>& segments);
Result<std::vector<Delivery>> ReadDeliveries(Session& session, const DeliveryFilter& filter);
Result<Delivery> WriteResend(Session& session, uint64_t id, WallTime now);
// Call it after the fence was locked.
Status WriteOutcome(Session& session, const DeliveryOutcome& outcome, WallTime now);
// Describes the rows of ReadDeliveries for CountRows.
CountedRows DeliveriesOf(const DeliveryFilter& filter);

}  // namespace carillon::mysql
