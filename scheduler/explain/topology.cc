#include "scheduler/explain/topology.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/domain/schedule/explain.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

enum class NodeState { kOk, kUnknown, kDegraded, kDown };  // ascending, from best to worst

std::string_view Name(NodeState state) {
  switch (state) {
    case NodeState::kOk: return "ok";
    case NodeState::kUnknown: return "unknown";
    case NodeState::kDegraded: return "degraded";
    case NodeState::kDown: return "down";
  }
  return "unknown";
}

struct Node {
  std::string id;
  std::string kind;
  std::string name;
  std::string address = {};  // empty = unknown
  NodeState state = NodeState::kUnknown;
  std::string detail = {};            // empty = none
  std::optional<Outage> away = {};    // the outage if this part becomes unavailable
  std::optional<Outage> costs = {};   // the outage that this part causes now
  std::optional<bool> leader = {};    // members only
  std::map<std::string, int> counts;  // for a group of executors: their number by state
};

struct Edge {
  std::string from;
  std::string to;
  std::string_view purpose;
  bool critical = false;  // `from` cannot work without `to`
  NodeState state = NodeState::kUnknown;
};

json TextOrNull(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json SecondsOrNull(const OutageBounds& bounds, OutageBound bound) {
  if (bound == OutageBound::kReturn) return nullptr;
  return std::chrono::duration<double>(bounds.Of(bound)).count();
}

json RowToJson(const OutageRow& row, const OutageBounds& bounds) {
  return {{"code", CodeOf(row)},
          {"capability", Name(row.capability)},
          {"effect", Name(row.effect)},
          {"after_s", SecondsOrNull(bounds, row.after)},
          {"until_s", SecondsOrNull(bounds, row.until)},
          {"detail", row.sentence}};
}

json NodeToJson(const Node& node, const OutageBounds& bounds) {
  json affects = json::array();
  if (node.away) {
    for (const OutageRow& row : RowsOf(*node.away)) affects.push_back(RowToJson(row, bounds));
  }
  json text = {{"id", node.id},
               {"kind", node.kind},
               {"name", node.name},
               {"address", TextOrNull(node.address)},
               {"state", Name(node.state)},
               {"detail", TextOrNull(node.detail)},
               {"affects", std::move(affects)}};
  if (node.leader) text["leader"] = *node.leader;
  if (!node.counts.empty()) text["counts"] = node.counts;
  return text;
}

json EdgeToJson(const Edge& edge) {
  return {{"from", edge.from},
          {"to", edge.to},
          {"purpose", edge.purpose},
          {"critical", edge.critical},
          {"state", Name(edge.state)}};
}

NodeState StateOf(ExecutorState state) {
  switch (state) {
    case ExecutorState::kOnline: return NodeState::kOk;
    case ExecutorState::kUnhealthy: return NodeState::kDegraded;
    case ExecutorState::kLost:
    case ExecutorState::kOffline: return NodeState::kDown;
  }
  return NodeState::kUnknown;
}

bool Usable(const ExecutorRecord& executor) {
  return executor.state == ExecutorState::kOnline && executor.enabled && !executor.draining;
}

// A lost executor counts as an outage for this long. Afterwards its runs have been retried
// elsewhere or wait for a person. Without this limit, an executor that was removed for good would
// count for as long as its record exists. If no executor is usable, every lost executor counts.
constexpr Duration kMissedFor = 10min;

// An executor that was disabled or drained before it was lost does not count as an outage.
bool Missed(const ExecutorRecord& executor) { return executor.enabled && !executor.draining; }

// It is heard of, but its runs wait.
bool Idles(const ExecutorRecord& executor) { return Usable(executor) && executor.claims_nothing; }

std::string DetailOf(const ExecutorRecord& executor) {
  if (Idles(executor)) {
    return "It claims none of the tasks that it is sent, and gets one at a time until it does. "
           "Read "
           "its log.";
  }
  if (executor.draining) return "draining";
  return executor.enabled ? "" : "disabled";
}

class Graph {
 public:
  explicit Graph(const TopologyInputs& inputs) : inputs_(inputs), self_(inputs.cluster.self) {
    AddStore();
    if (!inputs.one_process) {
      AddCoordinator();
      AddBus();
    }
    AddMembers();
    AddExecutors();
    AddChannels();
  }

  json Describe() const {
    json nodes = json::array();
    json edges = json::array();
    NodeState worst = NodeState::kOk;
    for (const Node& node : nodes_) {
      nodes.push_back(NodeToJson(node, inputs_.bounds));
      const bool left = node.state == NodeState::kDown && !node.costs;
      if (node.state != NodeState::kUnknown && !left) worst = std::max(worst, node.state);
    }
    for (const Edge& edge : edges_) edges.push_back(EdgeToJson(edge));
    return {{"seen_by", self_.value()},  {"time", FormatRfc3339(inputs_.at)},
            {"state", Name(worst)},      {"nodes", std::move(nodes)},
            {"edges", std::move(edges)}, {"impact", Impact()}};
  }

 private:
  void AddStore() {
    Node node{.id = "store", .kind = "store", .name = "store", .address = inputs_.places.store};
    node.away = Outage::kStore;
    if (!inputs_.store_answers) {
      node.state = NodeState::kDown;
      node.detail = "No response.";
      node.costs = Outage::kStore;
    } else if (inputs_.store.state == StoreState::kTrusted) {
      node.state = NodeState::kOk;
    } else {
      node.state = NodeState::kDown;
      node.costs = Outage::kStoreHeld;
      node.detail = inputs_.store.state == StoreState::kHeld
                        ? "Held: " + inputs_.store.reason
                        : "The trusted store has not been read from the coordinator yet.";
    }
    nodes_.push_back(std::move(node));
  }

  void AddCoordinator() {
    Node node{.id = "coordinator",
              .kind = "coordinator",
              .name = "ZooKeeper",
              .address = inputs_.places.coordinator};
    node.away = Outage::kCoordinator;
    node.state = Connected() ? NodeState::kOk : NodeState::kDown;
    if (!Connected()) {
      node.costs = Outage::kCoordinator;
      node.detail = inputs_.cluster.session == SessionState::kExpired
                        ? "The session of this member has expired."
                        : "This member has no connection.";
    }
    nodes_.push_back(std::move(node));
  }

  void AddBus() {
    Node node{.id = "bus", .kind = "bus", .name = "Kafka", .address = inputs_.places.bus};
    node.away = Outage::kBus;
    node.state = BusState(&node.detail);
    if (node.state == NodeState::kDown) node.costs = Outage::kBus;
    nodes_.push_back(std::move(node));
  }

  NodeState BusState(std::string* detail) const {
    size_t answer = 0;
    std::string silent;
    for (const auto& [topic, seen] : inputs_.cluster.topics) {
      if (seen.contact == BusHealth::Contact::kAnswers) ++answer;
      if (seen.contact == BusHealth::Contact::kSilent) silent += " " + topic;
    }
    if (!silent.empty()) *detail = "No response for:" + silent + ".";
    if (!silent.empty()) return answer > 0 ? NodeState::kDegraded : NodeState::kDown;
    return answer > 0 ? NodeState::kOk : NodeState::kUnknown;
  }

  void AddMembers() {
    std::map<std::string, int> left;  // number of segments of each owner that is not a member
    for (const SegmentRecord& segment : inputs_.segments) {
      if (!segment.owner.value().empty()) ++left[segment.owner.value()];
    }
    for (const ClusterMember& member : inputs_.cluster.members) left.erase(member.id.value());
    left.erase(self_.value());
    const Outage away = inputs_.cluster.members.size() > 1 ? Outage::kMember : Outage::kLastMember;
    for (const ClusterMember& member : inputs_.cluster.members) AddMember(member, away);
    // Without the coordinator, it is unknown whether these owners are still members.
    for (const auto& [id, segments] : left) {
      Node node{.id = "member:" + id, .kind = "member", .name = id};
      node.leader = false;
      node.away = Outage::kMember;
      node.detail = std::to_string(segments) + " segments still belong to it.";
      if (Connected()) {
        node.state = NodeState::kDown;
        node.costs = Outage::kMember;
      }
      AddMemberEdges(node);
      nodes_.push_back(std::move(node));
    }
  }

  void AddMember(const ClusterMember& member, Outage away) {
    Node node{.id = "member:" + member.id.value(),
              .kind = "member",
              .name = member.id.value(),
              .address = member.address};
    node.leader = inputs_.cluster.leader == member.id;
    node.away = away;
    if (member.id == self_) {
      node.state = inputs_.cluster.ready ? NodeState::kOk : NodeState::kDegraded;
      if (!inputs_.cluster.ready) {
        node.detail = "Not ready: waiting for the store, its clock or the segments.";
      }
    } else if (Connected()) {
      node.state = NodeState::kOk;
    }
    AddMemberEdges(node);
    nodes_.push_back(std::move(node));
  }

  // The member that answers knows only the state of its own connections.
  void AddMemberEdges(const Node& member) {
    const bool own = member.name == self_.value();
    const auto add = [&](const char* to, std::string_view purpose, bool critical) {
      edges_.push_back(
          {member.id, to, purpose, critical, own ? StateOfNode(to) : NodeState::kUnknown});
    };
    add("store", "records", true);
    if (inputs_.one_process) return;
    add("coordinator", "membership", false);
    add("bus", "messages", true);
  }

  void AddExecutors() {
    const bool named = inputs_.executors.size() <= kExecutorsNamedMax;
    const auto usable = std::count_if(inputs_.executors.begin(), inputs_.executors.end(), Usable);
    if (!named) AddExecutorsTogether(usable);
    size_t shown = 0;
    for (const ExecutorRecord& executor : inputs_.executors) {
      if (!named && StateOf(executor.state) == NodeState::kOk && !Idles(executor)) continue;
      if (++shown > kExecutorsNamedMax) break;
      AddExecutor(executor, usable);
    }
    // While the store is unavailable, there may be more executors than the linked ones.
    nothing_can_start_ = usable == 0 && inputs_.store_answers;
  }

  void AddExecutor(const ExecutorRecord& executor, int64_t usable) {
    Node node{.id = "executor:" + executor.id.value(),
              .kind = "executor",
              .name = executor.id.value(),
              .address = ToValidUtf8(executor.host)};
    node.state = Idles(executor) ? NodeState::kDegraded : StateOf(executor.state);
    node.detail = DetailOf(executor);
    const int64_t others = usable - (Usable(executor) ? 1 : 0);
    node.away = others > 0 ? Outage::kExecutor : Outage::kLastExecutor;
    const bool counts = usable == 0 || inputs_.at - executor.last_heartbeat < kMissedFor;
    if (node.state == NodeState::kDown && Missed(executor) && counts) node.costs = node.away;
    AddExecutorEdges(node, executor);
    nodes_.push_back(std::move(node));
  }

  void AddExecutorEdges(const Node& node, const ExecutorRecord& executor) {
    const bool linked =
        std::any_of(inputs_.cluster.executors.begin(), inputs_.cluster.executors.end(),
                    [&](const auto& heard) { return heard.id == executor.id; });
    for (const ClusterMember& member : inputs_.cluster.members) {
      NodeState state = NodeState::kUnknown;
      if (member.id == self_) state = linked ? node.state : NodeState::kDown;
      edges_.push_back({node.id, "member:" + member.id.value(), "claims", true, state});
    }
    if (inputs_.one_process) return;
    // An executor reports its lag only while the bus answers it.
    const bool reads = node.state == NodeState::kOk && executor.tasks_behind.has_value();
    edges_.push_back(
        {node.id, "bus", "messages", true, reads ? NodeState::kOk : NodeState::kUnknown});
    edges_.push_back({node.id, "coordinator", "members", false, NodeState::kUnknown});
  }

  void AddExecutorsTogether(int64_t usable) {
    Node node{.id = "executors", .kind = "executors", .name = "executors", .state = NodeState::kOk};
    for (const ExecutorRecord& executor : inputs_.executors) {
      ++node.counts[std::string(carillon::Name(executor.state))];
      if (Missed(executor) && (StateOf(executor.state) != NodeState::kOk || Idles(executor))) {
        node.state = NodeState::kDegraded;
      }
    }
    if (usable == 0) node.state = NodeState::kDown;
    node.away = Outage::kLastExecutor;
    if (usable == 0) node.costs = Outage::kLastExecutor;
    edges_.push_back({node.id, "member:" + self_.value(), "claims", true, node.state});
    if (!inputs_.one_process) {
      edges_.push_back({node.id, "bus", "messages", true});
      edges_.push_back({node.id, "coordinator", "members", false});
    }
    nodes_.push_back(std::move(node));
  }

  void AddChannels() {
    for (const ChannelHealth& channel : inputs_.channels) {
      const bool mail = channel.channel == DeliveryChannel::kMail;
      const std::string id = mail ? "mail" : "webhook";
      Node node{.id = id, .kind = id, .name = id, .address = mail ? inputs_.places.mail : ""};
      node.away = mail ? Outage::kMail : Outage::kWebhook;
      node.state = ChannelState(channel.last);
      if (node.state == NodeState::kDown) node.costs = node.away;
      node.detail = channel.last ? "Last notification at " + ReadableTime(channel.at) + "."
                                 : "Nothing has been sent yet.";
      for (const ClusterMember& member : inputs_.cluster.members) {
        const NodeState state = member.id == self_ ? node.state : NodeState::kUnknown;
        edges_.push_back({"member:" + member.id.value(), id, "notices", false, state});
      }
      nodes_.push_back(std::move(node));
    }
  }

  static NodeState ChannelState(std::optional<SendVerdict> last) {
    if (!last) return NodeState::kUnknown;
    switch (*last) {
      case SendVerdict::kDelivered: return NodeState::kOk;
      case SendVerdict::kNoAnswer: return NodeState::kDown;
      case SendVerdict::kTryAgain:
      case SendVerdict::kRefused: return NodeState::kDegraded;
    }
    return NodeState::kUnknown;
  }

  json Impact() const {
    std::map<Outage, std::set<std::string>> nodes;
    for (const Node& node : nodes_) {
      if (node.costs) nodes[*node.costs].insert(node.id);
    }
    if (nothing_can_start_) nodes.try_emplace(Outage::kLastExecutor);
    std::set<Outage> outages;
    for (const auto& [outage, ids] : nodes) outages.insert(outage);
    json impact = json::array();
    for (const OutageRow& row : ImpactOf(outages)) {
      if (row.until == OutageBound::kExecutorLost) continue;  // the executor is already lost
      json one = RowToJson(row, inputs_.bounds);
      one["nodes"] = row.outage == Outage::kStoreAndCoordinator
                         ? std::set<std::string>{"coordinator", "store"}
                         : nodes[row.outage];
      impact.push_back(std::move(one));
    }
    return impact;
  }

  bool Connected() const {
    return inputs_.one_process || inputs_.cluster.session == SessionState::kConnected;
  }

  NodeState StateOfNode(std::string_view id) const {
    for (const Node& node : nodes_) {
      if (node.id == id) return node.state;
    }
    return NodeState::kUnknown;
  }

  const TopologyInputs& inputs_;
  const MemberId self_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  bool nothing_can_start_ = false;
};

}  // namespace

json DescribeTopology(const TopologyInputs& inputs) { return Graph(inputs).Describe(); }

}  // namespace carillon::scheduler
