// Derives the options of a member and its servers from the table of settings. Pure.
#pragma once

#include "common/config/load.h"
#include "common/ops/ops_server.h"
#include "scheduler/api/server/api_server.h"
#include "scheduler/member/member_options.h"
#include "scheduler/notify/notify_options.h"

namespace carillon::scheduler {

// The member's incarnation is derived from `seed`. `seed` must be different at each start.
MemberOptions MemberOptionsOf(const config::Config& config, uint64_t seed);
// The options that live settings can change.
MemberTuning MemberTuningOf(const config::Config& config);
ApiOptions ApiOptionsOf(const config::Config& config);
ops::OpsOptions OpsOptionsOf(const config::Config& config);
// kInvalid: an unknown kind of notice, or an invalid address.
Result<NotifyOptions> NotifyOptionsOf(const config::Config& config);
// kInvalid: a namespace that cannot be.
Result<std::vector<EventTopic>> EventTopicsOf(const config::Config& config);
// The maximum number of store connections of the member and its API.
size_t StoreConnectionsOf(const config::Config& config);

}  // namespace carillon::scheduler
