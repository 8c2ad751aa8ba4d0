// Encodes members, assignments, settings and the trusted store for the coordinator's nodes.
//
// Errors   Parse…: kCorrupt. Unknown fields are ignored: a newer member may have written them.
#pragma once

#include <string>
#include <string_view>

#include "common/ports/coordinator.h"

namespace carillon {

// Returns the name of the node by which a member publishes whether the pause of the cluster is in
// force at this member (`paused`). The name does not end in a number, so that it cannot be mistaken
// for the node of a member.
std::string AnnouncedName(const Incarnation& incarnation, bool paused);

// {"id": "scheduler-1", "incarnation": "…", "rest_url": "…", "grpc_address": "…"}
std::string MemberText(const MemberInfo& member);
Result<MemberInfo> ParseMember(std::string_view text);

// {"generation": 7, "members": ["scheduler-1"], "owners": [[0, 0], [1, 0]]}. Each pair of "owners"
// is a segment and the index of its owner in "members". This form is short, because thousands of
// segments must fit into one node. An empty text is an assignment that was never written.
std::string AssignmentText(const Assignment& assignment);
Result<Assignment> ParseAssignment(std::string_view text);

// {"version": 3, "settings": {"log.level": "debug"}}. Empty: settings that were never written.
std::string SettingsText(const ClusterSettings& settings);
Result<ClusterSettings> ParseSettings(std::string_view text);

// {"store_id": "…", "server_id": "…", "mark": 17, "accepted_us": 0}. Empty: never written.
std::string TrustText(const StoreTrust& trust);
Result<std::optional<StoreTrust>> ParseTrust(std::string_view text);

}  // namespace carillon
