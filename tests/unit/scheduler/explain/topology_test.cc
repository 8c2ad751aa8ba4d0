// The topology report: states, problems and dependencies as a member sees them.
#include "scheduler/explain/topology.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using scheduler::DescribeTopology;
using scheduler::SendVerdict;
using scheduler::TopologyInputs;
using enum BusHealth::Contact;

// Two members and two executors, all healthy.
TopologyInputs Sound() {
  TopologyInputs inputs{.at = WallTime(1'700'000'000s), .store_answers = true};
  inputs.cluster.self = MemberId("m1");
  inputs.cluster.ready = true;
  inputs.cluster.leader = MemberId("m2");
  inputs.cluster.members = {{.id = MemberId("m1"), .address = "http://m1"},
                            {.id = MemberId("m2"), .address = "http://m2"}};
  inputs.cluster.topics = {{"carillon.logs", {kAnswers, 0}}, {"carillon.results", {kAnswers, 0}}};
  inputs.cluster.session = SessionState::kConnected;
  inputs.store = {.state = StoreState::kTrusted};
  inputs.executors = {{.id = ExecutorId("e1"), .host = "h1", .tasks_behind = 0},
                      {.id = ExecutorId("e2"), .host = "h2", .tasks_behind = 0}};
  for (ExecutorRecord& executor : inputs.executors) executor.last_heartbeat = inputs.at;
  inputs.cluster.executors = inputs.executors;
  inputs.places = {.store = "db:3306/carillon", .coordinator = "zk:2181", .bus = "kafka:9092"};
  return inputs;
}

json NodeOf(const json& topology, const std::string& id) {
  for (const json& node : topology["nodes"]) {
    if (node["id"] == id) return node;
  }
  return nullptr;
}

json EdgeOf(const json& topology, const std::string& from, const std::string& to) {
  for (const json& edge : topology["edges"]) {
    if (edge["from"] == from && edge["to"] == to) return edge;
  }
  return nullptr;
}

std::vector<std::string> Impact(const json& topology) {
  std::vector<std::string> codes;
  for (const json& one : topology["impact"]) codes.push_back(one["code"]);
  return codes;
}

// Leaves out the effects that end when an executor is declared lost.
std::vector<std::string> CodesOf(std::set<Outage> outages) {
  std::vector<std::string> codes;
  for (const OutageRow& row : ImpactOf(std::move(outages))) {
    if (row.until != OutageBound::kExecutorLost) codes.push_back(CodeOf(row));
  }
  return codes;
}

TEST(TopologyTest, AllIsWell) {
  const json topology = DescribeTopology(Sound());
  EXPECT_EQ(topology["state"], "ok");
  EXPECT_EQ(topology["seen_by"], "m1");
  EXPECT_EQ(topology["impact"], json::array());
  ASSERT_EQ(topology["nodes"].size(), 7u);
  for (const json& node : topology["nodes"]) {
    EXPECT_EQ(node["state"], "ok") << node["id"];
    EXPECT_FALSE(node["affects"].empty()) << node["id"];
  }
  EXPECT_EQ(NodeOf(topology, "member:m1")["leader"], false);
  EXPECT_EQ(NodeOf(topology, "member:m2")["leader"], true);
  EXPECT_EQ(NodeOf(topology, "store")["address"], "db:3306/carillon");
  const json row = NodeOf(topology, "executor:e1")["affects"][1];
  EXPECT_EQ(row["code"], "executor.running.stops");
  EXPECT_EQ(row["after_s"], 26);
  EXPECT_TRUE(row["until_s"].is_null());
}

TEST(TopologyTest, EveryEdgeJoinsTwoNodes) {
  TopologyInputs inputs = Sound();
  inputs.channels = {{.channel = DeliveryChannel::kMail}, {.channel = DeliveryChannel::kWebhook}};
  const json topology = DescribeTopology(inputs);
  for (const json& edge : topology["edges"]) {
    EXPECT_FALSE(NodeOf(topology, edge["from"]).is_null()) << edge;
    EXPECT_FALSE(NodeOf(topology, edge["to"]).is_null()) << edge;
  }
  EXPECT_EQ(topology["edges"].size(), 2u * 3 + 2u * 4 + 2u * 2);
  EXPECT_EQ(EdgeOf(topology, "member:m1", "store")["critical"], true);
  EXPECT_EQ(EdgeOf(topology, "member:m1", "coordinator")["critical"], false);
}

// A member does not know the connections of other members.
TEST(TopologyTest, OnlyOwnConnectionsAreKnown) {
  const json topology = DescribeTopology(Sound());
  EXPECT_EQ(EdgeOf(topology, "member:m1", "store")["state"], "ok");
  EXPECT_EQ(EdgeOf(topology, "member:m2", "store")["state"], "unknown");
  EXPECT_EQ(EdgeOf(topology, "executor:e1", "member:m1")["state"], "ok");
  EXPECT_EQ(EdgeOf(topology, "executor:e1", "member:m2")["state"], "unknown");
  EXPECT_EQ(EdgeOf(topology, "executor:e1", "bus")["state"], "ok");
  EXPECT_EQ(EdgeOf(topology, "executor:e1", "coordinator")["state"], "unknown");
}

TEST(TopologyTest, AnExecutorThatClaimsNothingIsAProblem) {
  TopologyInputs inputs = Sound();
  inputs.executors[0].claims_nothing = true;
  const json topology = DescribeTopology(inputs);
  EXPECT_EQ(topology["state"], "degraded");
  const json node = NodeOf(topology, "executor:e1");
  EXPECT_EQ(node["state"], "degraded");
  EXPECT_NE(node["detail"].get<std::string>().find("claims none"), std::string::npos) << node;
  EXPECT_EQ(NodeOf(topology, "executor:e2")["state"], "ok");
  inputs.executors[0].enabled = false;
  EXPECT_EQ(NodeOf(DescribeTopology(inputs), "executor:e1")["detail"], "disabled");
}

TEST(TopologyTest, AStoreThatDoesNotAnswer) {
  TopologyInputs inputs = Sound();
  inputs.store_answers = false;
  inputs.cluster.ready = false;
  const json topology = DescribeTopology(inputs);
  EXPECT_EQ(topology["state"], "down");
  EXPECT_EQ(NodeOf(topology, "store")["state"], "down");
  EXPECT_EQ(EdgeOf(topology, "member:m1", "store")["state"], "down");
  EXPECT_EQ(NodeOf(topology, "member:m1")["state"], "degraded");
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kStore}));
  EXPECT_EQ(topology["impact"][0]["nodes"], json({"store"}));
  inputs.cluster.session = SessionState::kSuspended;
  const json both = DescribeTopology(inputs);
  EXPECT_EQ(Impact(both), CodesOf({Outage::kStore, Outage::kCoordinator}));
  bool ends = false;
  for (const json& one : both["impact"]) {
    if (one["code"] != "store_and_coordinator.running.stops") continue;
    ends = true;
    EXPECT_EQ(one["after_s"], 20);
    EXPECT_EQ(one["nodes"], json({"coordinator", "store"}));
  }
  EXPECT_TRUE(ends);
}

TEST(TopologyTest, AStoreThatIsHeld) {
  TopologyInputs inputs = Sound();
  inputs.store = {.state = StoreState::kHeld, .reason = "its mark went back"};
  json topology = DescribeTopology(inputs);
  EXPECT_EQ(NodeOf(topology, "store")["state"], "down");
  EXPECT_EQ(NodeOf(topology, "store")["detail"], "Held: its mark went back");
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kStoreHeld}));
  inputs.store = {};
  EXPECT_EQ(Impact(DescribeTopology(inputs)), CodesOf({Outage::kStoreHeld})) << "nothing is begun";
}

TEST(TopologyTest, WithoutTheCoordinatorOtherMembersAreNotKnown) {
  for (const SessionState state : {SessionState::kSuspended, SessionState::kExpired}) {
    TopologyInputs inputs = Sound();
    inputs.cluster.session = state;
    inputs.segments = {{.segment = SegmentId(1), .owner = MemberId("m3")}};
    const json topology = DescribeTopology(inputs);
    EXPECT_EQ(NodeOf(topology, "coordinator")["state"], "down");
    EXPECT_EQ(NodeOf(topology, "member:m1")["state"], "ok");
    EXPECT_EQ(NodeOf(topology, "member:m2")["state"], "unknown");
    EXPECT_EQ(NodeOf(topology, "member:m3")["state"], "unknown");
    EXPECT_EQ(Impact(topology), CodesOf({Outage::kCoordinator}));
  }
}

TEST(TopologyTest, ABusThatIsSilent) {
  TopologyInputs inputs = Sound();
  inputs.cluster.topics["carillon.logs"] = {kSilent};
  json topology = DescribeTopology(inputs);
  EXPECT_EQ(NodeOf(topology, "bus")["state"], "degraded");
  EXPECT_EQ(NodeOf(topology, "bus")["detail"], "No response for: carillon.logs.");
  EXPECT_EQ(topology["state"], "degraded");
  EXPECT_EQ(topology["impact"], json::array()) << "part of it answers";
  inputs.cluster.topics["carillon.results"] = {kSilent};
  topology = DescribeTopology(inputs);
  EXPECT_EQ(NodeOf(topology, "bus")["state"], "down");
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kBus}));
  inputs.cluster.topics = {{"carillon.logs", {kUnknown}}, {"carillon.results", {kUnknown}}};
  topology = DescribeTopology(inputs);
  EXPECT_EQ(NodeOf(topology, "bus")["state"], "unknown");
  EXPECT_EQ(topology["impact"], json::array()) << "nothing was asked yet";
}

TEST(TopologyTest, AMemberThatIsGoneAndOwnsSegments) {
  TopologyInputs inputs = Sound();
  inputs.segments = {{.segment = SegmentId(0), .owner = MemberId("m1")},
                     {.segment = SegmentId(1), .owner = MemberId("m3")},
                     {.segment = SegmentId(2), .owner = MemberId("m3")},
                     {.segment = SegmentId(3)}};
  const json topology = DescribeTopology(inputs);
  EXPECT_EQ(NodeOf(topology, "member:m3")["state"], "down");
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kMember}));
  EXPECT_EQ(topology["impact"][0]["until_s"], 6) << "the session timeout";
  EXPECT_EQ(topology["impact"][0]["nodes"], json({"member:m3"}));
}

TEST(TopologyTest, TheLastMemberCostsMore) {
  TopologyInputs inputs = Sound();
  inputs.cluster.members.resize(1);
  const json affects = NodeOf(DescribeTopology(inputs), "member:m1")["affects"];
  EXPECT_EQ(affects[0]["code"], "last_member.planning.stops");
}

TEST(TopologyTest, OneOfTwoExecutorsIsLost) {
  TopologyInputs inputs = Sound();
  inputs.executors[0].state = ExecutorState::kUnhealthy;
  EXPECT_EQ(NodeOf(DescribeTopology(inputs), "executor:e1")["state"], "degraded");
  inputs.executors[0].state = ExecutorState::kLost;
  const json topology = DescribeTopology(inputs);
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kExecutor}));
  EXPECT_EQ(NodeOf(topology, "executor:e2")["affects"][0]["code"], "last_executor.starting.stops")
      << "it is the last one now";
  inputs.executors[0].draining = true;
  const json left = DescribeTopology(inputs);
  EXPECT_EQ(left["impact"], json::array()) << "it was drained before it left";
  EXPECT_EQ(left["state"], "ok");
}

TEST(TopologyTest, OneThatIsGoneForGoodIsMissedForAWhile) {
  TopologyInputs inputs = Sound();
  inputs.executors[0].state = ExecutorState::kLost;
  inputs.executors[0].last_heartbeat = inputs.at - 10min;
  json topology = DescribeTopology(inputs);
  EXPECT_EQ(topology["impact"], json::array());
  EXPECT_EQ(topology["state"], "ok");
  EXPECT_EQ(NodeOf(topology, "executor:e1")["state"], "down");
  inputs.executors[1].enabled = false;  // no other executor does its work
  topology = DescribeTopology(inputs);
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kLastExecutor}));
  EXPECT_EQ(topology["state"], "down");
}

TEST(TopologyTest, NobodyCanStartAnything) {
  TopologyInputs inputs = Sound();
  inputs.executors[0].state = ExecutorState::kLost;
  inputs.executors[1].enabled = false;
  json topology = DescribeTopology(inputs);
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kLastExecutor}));
  EXPECT_EQ(topology["impact"][0]["nodes"], json({"executor:e1"}));
  inputs.executors.clear();
  topology = DescribeTopology(inputs);
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kLastExecutor}));
  EXPECT_EQ(topology["impact"][0]["nodes"], json::array());
  inputs.store_answers = false;
  EXPECT_EQ(Impact(DescribeTopology(inputs)), CodesOf({Outage::kStore})) << "others may be there";
}

TEST(TopologyTest, AnExecutorWithoutALinkToThisMember) {
  TopologyInputs inputs = Sound();
  inputs.cluster.executors.pop_back();
  const json topology = DescribeTopology(inputs);
  EXPECT_EQ(NodeOf(topology, "executor:e2")["state"], "ok");
  EXPECT_EQ(EdgeOf(topology, "executor:e2", "member:m1")["state"], "down");
}

TEST(TopologyTest, ManyExecutorsAreCounted) {
  TopologyInputs inputs = Sound();
  inputs.executors.clear();
  for (int i = 0; i < 300; ++i) inputs.executors.push_back({.id = ExecutorId(std::to_string(i))});
  inputs.executors[7].state = ExecutorState::kLost;
  inputs.executors[7].last_heartbeat = inputs.at - 9min;
  json topology = DescribeTopology(inputs);
  EXPECT_EQ(topology["nodes"].size(), 5u + 2);
  EXPECT_EQ(NodeOf(topology, "executors")["counts"], json({{"ONLINE", 299}, {"LOST", 1}}));
  EXPECT_EQ(NodeOf(topology, "executors")["state"], "degraded");
  EXPECT_EQ(NodeOf(topology, "executor:7")["state"], "down");
  EXPECT_EQ(Impact(topology), CodesOf({Outage::kExecutor}));
  for (ExecutorRecord& executor : inputs.executors) executor.state = ExecutorState::kLost;
  topology = DescribeTopology(inputs);
  EXPECT_EQ(topology["nodes"].size(), 5u + 1 + scheduler::kExecutorsNamedMax);
  EXPECT_EQ(NodeOf(topology, "executors")["state"], "down");
}

TEST(TopologyTest, ChannelsAreAsTheyWereSeenLast) {
  TopologyInputs inputs = Sound();
  for (const auto& [last, state] : {std::pair(std::optional<SendVerdict>(), "unknown"),
                                    {SendVerdict::kDelivered, "ok"},
                                    {SendVerdict::kNoAnswer, "down"},
                                    {SendVerdict::kTryAgain, "degraded"}}) {
    inputs.channels = {{.channel = DeliveryChannel::kMail, .last = last}};
    const json topology = DescribeTopology(inputs);
    EXPECT_EQ(NodeOf(topology, "mail")["state"], state);
    EXPECT_TRUE(NodeOf(topology, "webhook").is_null());
    EXPECT_EQ(Impact(topology), last == SendVerdict::kNoAnswer ? CodesOf({Outage::kMail})
                                                               : std::vector<std::string>());
  }
}

TEST(TopologyTest, OneProcessHasNoBusAndNoCoordinator) {
  TopologyInputs inputs = Sound();
  inputs.one_process = true;
  inputs.cluster.members.resize(1);
  inputs.executors.resize(1);
  const json topology = DescribeTopology(inputs);
  ASSERT_EQ(topology["nodes"].size(), 3u);
  EXPECT_EQ(topology["edges"].size(), 2u);
  EXPECT_EQ(topology["state"], "ok");
}

using TopologyRouteTest = ApiEnv;

TEST_F(TopologyRouteTest, ShowsWhatTheMemberSees) {
  AddExecutor("executor-1");
  status_.topics = {{"carillon.results", {kAnswers, 0}}};
  const json topology = Get("/api/system/topology").body();
  EXPECT_EQ(topology["seen_by"], "scheduler-1");
  EXPECT_EQ(NodeOf(topology, "store")["state"], "ok");
  EXPECT_EQ(NodeOf(topology, "bus")["state"], "ok");
  EXPECT_EQ(NodeOf(topology, "executor:executor-1")["state"], "ok");
  EXPECT_EQ(topology["impact"], json::array());
  EXPECT_EQ(Get("/api/system/topology?x=1").status, 400);
}

TEST_F(TopologyRouteTest, TheContractNamesEveryCode) {
  const json schemas = Get("/api/openapi.json").body()["components"]["schemas"];
  std::vector<std::string> codes;
  for (const OutageRow& row : OutageTable()) codes.push_back(CodeOf(row));
  EXPECT_EQ(schemas["OutageEffect"]["properties"]["code"]["enum"], json(codes));
}

TEST_F(TopologyRouteTest, AnswersWhileTheStoreIsAway) {
  faults_.plan.Arm("CountOpenRuns", Fault::kUnavailable);
  const Answer answer = Get("/api/system/topology");
  ASSERT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(NodeOf(answer.body(), "store")["state"], "down");
  EXPECT_EQ(Impact(answer.body()), CodesOf({Outage::kStore}));
  EXPECT_EQ(NodeOf(answer.body(), "executor:linked")["state"], "degraded") << "linked to it";
}

}  // namespace
}  // namespace carillon::test
