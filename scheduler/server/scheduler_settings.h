// From the table of settings to the options of a member. Pure.
#pragma once

#include "common/config/load.h"
#include "common/ops/ops_server.h"
#include "scheduler/api/server/api_server.h"
#include "scheduler/member/member_options.h"
#include "scheduler/notify/notify_options.h"

namespace carillon::scheduler {

// `seed` makes the incarnation: another one for each start.
MemberOptions MemberOptionsOf(const config::Config& config, uint64_t seed);
// The live ones.
MemberTuning MemberTuningOf(const config::Config& config);
ApiOptions ApiOptionsOf(const config::Config& config);
ops::OpsOptions OpsOptionsOf(const config::Config& config);
// kInvalid: a kind of notice or an address that is none.
Result<NotifyOptions> NotifyOptionsOf(const config::Config& config);
// Connections that the member and its API hold at most.
size_t StoreConnectionsOf(const config::Config& config);

}  // namespace carillon::scheduler
