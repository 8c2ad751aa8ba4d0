// A cluster as read from its nodes: members in the order of joining, assignment, settings.
//
// Threads  ViewReader is not thread-safe: one read at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/adapters/zookeeper/cluster_tree.h"
#include "common/adapters/zookeeper/zookeeper_session.h"
#include "common/ports/coordinator.h"

namespace carillon::zookeeper {

struct ClusterView {
  struct Entry {
    uint64_t number = 0;  // order of joining
    std::string name;     // name of the node
    MemberInfo member;

    bool operator==(const Entry&) const = default;
  };

  std::vector<Entry> entries;  // in order of joining
  Assignment assignment;
  int32_t version = 0;  // version of the assignment's node
  int64_t created = 0;  // zxid that created that node
  ClusterSettings settings;

  bool LedBy(const std::string& own) const {
    return !entries.empty() && "election/" + entries.front().name == own;
  }
  void TakeAssignment(const ClusterView& other) {
    assignment = other.assignment;
    version = other.version;
    created = other.created;
  }
  bool operator==(const ClusterView&) const = default;
};

class ViewReader {
 public:
  explicit ViewReader(const ClusterTree& tree) : tree_(tree) {}

  struct Reading {
    ClusterView view;
    // False: the assignment is unreadable, and the view has none.
    bool has_assignment = true;
  };
  // Reads the whole cluster, and sets watches for changes.
  Result<Reading> Read(Session& session);

 private:
  Result<std::vector<ClusterView::Entry>> ReadEntries(Session& session);
  Result<ClusterSettings> ReadSettings(Session& session);

  const ClusterTree& tree_;
  std::map<std::string, MemberInfo> known_;  // nodes never change
};

}  // namespace carillon::zookeeper
