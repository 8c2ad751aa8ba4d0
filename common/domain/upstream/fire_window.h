// The fires of another job that may count for a run that waits for it. Pure.
//
//   day 0                 from the begin of the local day of the fire to the fire
//   day -1                the whole local day before
//   back_s, ahead_s       from so long before the fire to the fire, or else up to so long after it
//
// A local day is that of the zone in which the run tells its date (fire_zone.h), so that it is the
// day of {{fire_date}}. It may have 23 or 25 hours.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/upstream/waits_for.h"

namespace carillon {

// [from, until], and if no fire lies in it, the first one of (until, ahead_until].
struct FireWindow {
  WallTime from, until, ahead_until;

  bool operator==(const FireWindow&) const = default;
};

// kInvalid: the zone is not known on this host, or the fire is outside its table.
Result<FireWindow> WindowOf(const WaitWindow& window, WallTime fire, std::string_view zone);

}  // namespace carillon
