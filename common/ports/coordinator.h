// Port of the cluster's coordination: live members, leader, assignment of segments, settings, and
// the trusted store. Correctness never depends on it: the store decides who owns a segment
// (segment_store.h) and holds the settings (settings_store.h), and each member remembers the store
// that it trusted.
//
// Threads  Thread-safe. Queries return the state that this client last received, without waiting,
//          except where noted.
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

// A scheduler member, as it announces itself.
struct MemberInfo {
  MemberId id;
  Incarnation incarnation;
  std::string rest_url;
  std::string grpc_address;
  std::string version = {};         // build version; empty: unknown
  std::optional<bool> paused = {};  // as last given to AnnouncePaused; not part of Join
  std::string ops_url = {};         // health and metrics; empty: unknown
  int schema = 0;                   // newest migration that it knows; 0: unknown

  bool operator==(const MemberInfo&) const = default;
};

// The intended owner of each segment, as computed by the leader.
struct Assignment {
  Generation generation;
  std::map<SegmentId, MemberId> owners;

  bool operator==(const Assignment&) const = default;
};

enum class SessionState {
  kConnected,
  kSuspended,  // no contact; the session may still exist: continue, but do not lead
  kExpired,    // rejoin from scratch
};

class Coordinator {
 public:
  virtual ~Coordinator() = default;

  // Joins the members and the election. Call it again after the session has expired. Blocks up to
  // the session timeout.
  virtual Status Join(const MemberInfo& self) = 0;
  // Returns how often this client has joined. While the number is unchanged, the session has
  // not ended.
  virtual uint64_t Joins() = 0;
  virtual void Leave() = 0;
  virtual SessionState State() = 0;
  // True while this member's election node is the lowest one, as last seen.
  virtual bool IsLeader() = 0;
  virtual std::optional<MemberId> Leader() = 0;
  virtual std::vector<MemberInfo> Members() = 0;
  // Publishes whether the pause of the cluster is in force at this member. Members() shows it until
  // the member leaves, rejoins or publishes another value.
  virtual Status AnnouncePaused(bool paused) = 0;

  virtual Result<Assignment> ReadAssignment() = 0;
  // Only for the leader. The write itself checks that this member still leads (otherwise kFenced),
  // and that the generation is one above the stored one (otherwise kConflict).
  virtual Status WriteAssignment(const Assignment& assignment) = 0;

  // The copy of the store's settings, as last seen; version 0 if there is no readable copy.
  virtual Result<ClusterSettings> ReadSettings() = 0;
  // Any member may call it. Replaces an older version; the same or a newer version is kept.
  virtual Status WriteSettings(const ClusterSettings& settings) = 0;

  // Proves by a quorum write that the session is alive, and returns the current generation of the
  // assignment. This also proves the ownership of segments that were taken under that generation.
  virtual Result<Generation> ProveSession() = 0;

  // The store that the members trust; nullopt if none was written yet. ReadTrust and WriteTrust
  // query the ensemble, so this client must have joined.
  virtual Result<std::optional<StoreTrust>> ReadTrust() = 0;
  // Any member may call it. kConflict: the stored value is not `instead_of`. kTimeout: the outcome
  // is unknown.
  virtual Status WriteTrust(const StoreTrust& trust,
                            const std::optional<StoreTrust>& instead_of) = 0;

  // `wake` is called (on any thread) after a change of membership, leader, assignment, settings
  // or session.
  virtual void OnChange(std::function<void()> wake) = 0;
};

}  // namespace carillon
