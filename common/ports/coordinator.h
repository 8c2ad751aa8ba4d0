// Port of the cluster's coordination: live members, leader, assignment of segments, settings, and
// the trusted store. Never needed for correctness: the store decides who owns a segment
// (segment_store.h) and holds the settings (admin_store.h), and members remember
// which store they trusted.
//
// Threads  Thread-safe. Calls answer from a local view, except where said.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/cluster_settings.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/store_trust.h"

namespace carillon {

struct MemberInfo {
  MemberId id;
  Incarnation incarnation;
  std::string rest_url;
  std::string grpc_address;
  std::string version = {};         // of its build; empty: of one that does not tell
  std::optional<bool> paused = {};  // what it told last (TellPaused); no part of how it joins
  std::string ops_url = {};         // of its health and metrics; empty: of one that does not tell

  bool operator==(const MemberInfo&) const = default;
};

struct Assignment {
  Generation generation;
  std::map<SegmentId, MemberId> owners;

  bool operator==(const Assignment&) const = default;
};

enum class SessionState {
  kConnected,
  kSuspended,  // no contact; the session may still live: go on, do not lead
  kExpired,    // rejoin from scratch
};

class Coordinator {
 public:
  virtual ~Coordinator() = default;

  // Enters the membership and the election, anew after an expiry. Blocks up to the session timeout.
  virtual Status Join(const MemberInfo& self) = 0;
  // How often this client has joined: while it is the same, its session has never ended since.
  virtual uint64_t Joins() = 0;
  virtual void Leave() = 0;
  virtual SessionState State() = 0;
  // True while this member's election node is the lowest one (as last seen).
  virtual bool IsLeader() = 0;
  virtual std::optional<MemberId> Leader() = 0;
  virtual std::vector<MemberInfo> Members() = 0;
  // By a member, of itself: whether the pause of the cluster is in force there. Members() shows it
  // until the member leaves, joins anew or tells something else.
  virtual Status TellPaused(bool paused) = 0;

  virtual Result<Assignment> ReadAssignment() = 0;
  // Only by the leader, checked in the same write; its generation must be one above the stored
  // one. kFenced: not the leader any more. kConflict: another generation.
  virtual Status WriteAssignment(const Assignment& assignment) = 0;

  // The copy of the store's settings, as last seen; version 0 when there is none, or none that can
  // be read.
  virtual Result<ClusterSettings> ReadSettings() = 0;
  // By any member. Takes the place of an older version; a newer one, or the same, stays.
  virtual Status WriteSettings(const ClusterSettings& settings) = 0;

  // A quorum write within the own session: ownership may be inferred from it while the assignment's
  // generation is the one an epoch was taken under. Returns that generation.
  virtual Result<Generation> ProveSession() = 0;

  // The store that the members trust; nullopt: nobody wrote it yet. Both ask the ensemble, and need
  // a membership.
  virtual Result<std::optional<StoreTrust>> ReadTrust() = 0;
  // By any member. kConflict: what is stored is not `instead_of`. kTimeout: the outcome is unknown.
  virtual Status WriteTrust(const StoreTrust& trust,
                            const std::optional<StoreTrust>& instead_of) = 0;

  // Called (from any thread) when membership, leadership, assignment, settings or session changed.
  virtual void OnChange(std::function<void()> wake) = 0;
};

}  // namespace carillon
