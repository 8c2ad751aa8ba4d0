// Members, assignments, settings and the trusted store as the coordinator's nodes hold them.
//
// Errors   Parse…: kCorrupt. Unknown fields are passed over: a newer member may have written them.
#pragma once

#include <string>
#include <string_view>

#include "common/ports/coordinator.h"

namespace carillon {

// {"id": "scheduler-1", "incarnation": "…", "rest_url": "…", "grpc_address": "…"}
// The node by which a member tells whether the pause of the cluster is in force there: no number is
// at its end, so that nobody takes it for a member.
std::string ToldName(const Incarnation& incarnation, bool paused);

std::string MemberText(const MemberInfo& member);
Result<MemberInfo> ParseMember(std::string_view text);

// {"generation": 7, "members": ["scheduler-1"], "owners": [[0, 0], [1, 0]]}: pairs of segment and
// index of its member, because thousands of segments must fit into one node. An empty text is an
// assignment that nobody wrote yet.
std::string AssignmentText(const Assignment& assignment);
Result<Assignment> ParseAssignment(std::string_view text);

// {"version": 3, "settings": {"log.level": "debug"}}.
// An empty text is settings that nobody wrote yet.
std::string SettingsText(const ClusterSettings& settings);
Result<ClusterSettings> ParseSettings(std::string_view text);

// {"store_id": "…", "server_id": "…", "mark": 17,
// "accepted_us": 0}. An empty text: nobody wrote it.
std::string TrustText(const StoreTrust& trust);
Result<std::optional<StoreTrust>> ParseTrust(std::string_view text);

}  // namespace carillon
