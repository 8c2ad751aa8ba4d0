// Deletes versions of calendars that nothing needs any more (UnusedVersions of calendar_set.h).
#pragma once

#include "common/adapters/mysql/client/pool.h"
#include "common/base/time.h"

namespace carillon::mysql {

// Of those that took effect before `before`.
Status DeleteOldCalendars(Pool& pool, WallTime before);

}  // namespace carillon::mysql
