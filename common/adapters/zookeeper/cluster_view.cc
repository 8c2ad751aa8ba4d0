#include "common/adapters/zookeeper/cluster_view.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "common/base/log.h"
#include "common/wire/json/coordination_json.h"

namespace carillon::zookeeper {
namespace {

// Returns the number that the server appended: "a-0000000012" -> 12.
std::optional<uint64_t> NumberOf(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end() || digits.empty()) return std::nullopt;
  return number;
}

// Returns the state that the member announced. Returns nullopt if the member has announced no
// state, or is changing its state.
std::optional<bool> PausedOf(const std::vector<std::string>& names,
                             const Incarnation& incarnation) {
  const auto told = [&](bool paused) {
    return std::find(names.begin(), names.end(), AnnouncedName(incarnation, paused)) != names.end();
  };
  if (told(true) == told(false)) return std::nullopt;
  return told(true);
}

}  // namespace

Result<ViewReader::Reading> ViewReader::Read(Session& session) {
  // Without the sync, a server that lags could return older data than an earlier read through
  // another server.
  CARILLON_TRY(session.Sync(tree_.root()));
  Reading reading;
  ClusterView& view = reading.view;
  CARILLON_ASSIGN_OR_RETURN(view.entries, ReadEntries(session));
  CARILLON_ASSIGN_OR_RETURN(const Node node, session.Get(tree_.Path("assignment"), true));
  auto assignment = ParseAssignment(node.data);
  reading.has_assignment = assignment.ok();
  if (assignment.ok()) {
    view.assignment = std::move(assignment).value();
    view.version = node.version;
    view.created = node.created;
  } else {
    log::Error("coordinator", "the assignment cannot be read, the last one stands: {}",
               assignment.error().message);
  }
  CARILLON_ASSIGN_OR_RETURN(view.settings, ReadSettings(session));
  return reading;
}

Result<std::vector<ClusterView::Entry>> ViewReader::ReadEntries(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const auto names, session.Children(tree_.Path("election"), true));
  std::map<std::string, MemberInfo> known;
  std::vector<ClusterView::Entry> entries;
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = NumberOf(name);
    if (!number) continue;  // the pause state of a member, or a foreign node
    auto found = known_.find(name);
    if (found == known_.end()) {
      const auto node = session.Get(tree_.Path("election/" + name), false);
      // The member has left since the nodes were listed.
      if (!node.ok() && node.code() == ErrorCode::kNotFound) continue;
      if (!node.ok()) return node.error();
      const auto member = ParseMember(node->data);
      if (!member.ok()) {
        log::Warn("coordinator", "{}: {}", name, member.error().message);
        continue;
      }
      found = known_.emplace(name, *member).first;
    }
    known.insert(*found);
    entries.push_back({*number, name, found->second});
    entries.back().member.paused = PausedOf(names, found->second.incarnation);
  }
  known_ = std::move(known);
  std::sort(
      entries.begin(), entries.end(),
      [](const ClusterView::Entry& a, const ClusterView::Entry& b) { return a.number < b.number; });
  return entries;
}

// Members and assignments do not depend on the settings. So an unreadable settings record counts as
// missing. A member with newer settings will replace the record.
Result<ClusterSettings> ViewReader::ReadSettings(Session& session) {
  const std::string path = tree_.Path("config");
  auto node = session.Get(path, true);
  if (!node.ok() && node.code() == ErrorCode::kNotFound) {
    // The node was deleted; without a node there is nothing to watch.
    const auto made = session.Create(path, "", Session::Life::kPersistent);
    if (!made.ok() && made.code() != ErrorCode::kExists) return made.error();
    node = session.Get(path, true);
  }
  if (!node.ok()) return node.error();
  auto settings = ParseSettings(node->data);
  if (settings.ok()) return settings;
  log::Warn("coordinator", "{}", settings.error().message);
  return ClusterSettings{};
}

}  // namespace carillon::zookeeper
