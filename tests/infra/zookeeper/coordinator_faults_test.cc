// The coordinator when answers are lost, and when servers lag, restart, or cannot write any more.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "common/adapters/zookeeper/zookeeper_coordinator.h"
#include "tests/support/process_wait.h"
#include "tests/support/tcp_proxy.h"
#include "tests/support/zookeeper_server.h"

namespace carillon::test {
namespace {

using zookeeper::ZookeeperCoordinator;

constexpr Duration kSession = 4s;

MemberInfo Info(const std::string& name) {
  return {MemberId(name), Incarnation("inc-" + name), "http://" + name, name + ":1"};
}

std::unique_ptr<ZookeeperCoordinator> Client(uint16_t port) {
  auto made = ZookeeperCoordinator::Make(
      {.connect = "127.0.0.1:" + std::to_string(port) + "/c", .session_timeout = kSession});
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

// Reads all election nodes from the server, in a separate session.
std::vector<std::string> ElectionNodes(uint16_t port) {
  auto session = zookeeper::Session::Open(
      {.servers = "127.0.0.1:" + std::to_string(port), .timeout = kSession}, {});
  EXPECT_TRUE(session.ok() && (*session)->AwaitConnected(20s));
  EXPECT_TRUE((*session)->Sync("/c/election").ok());
  return (*session)->Children("/c/election", false).value_or({});
}

class CoordinatorFaultsTest : public ::testing::Test {
 protected:
  void SetUp() override { server_.Start(); }
  static bool Joins(ZookeeperCoordinator& client, const std::string& name) {
    return WaitUntil([&] { return client.Join(Info(name)).ok(); });
  }

  ZookeeperServer server_;
};

// The request to create a node reaches the server, but its answer is lost. The member must find its
// node again. Otherwise it would have two nodes in the election, and could wait behind its own.
TEST_F(CoordinatorFaultsTest, AnswerOfTheCreateIsLost) {
  std::atomic<bool> armed = true;
  std::atomic<int> creates = 0;
  TcpProxy* lossy = nullptr;
  TcpProxy proxy(server_.port(), [&](std::string_view request) {
    if (request.find("/c/election/inc-a-") == std::string_view::npos) return;
    ++creates;
    if (armed.exchange(false)) lossy->LoseAnswers(true);
  });
  lossy = &proxy;
  const auto a = Client(proxy.port());
  std::thread cut([&] {
    WaitUntil([&] { return creates.load() > 0 && ElectionNodes(server_.port()).size() == 1; });
    proxy.LoseAnswers(false);
    proxy.Cut();
  });
  const Status first = a->Join(Info("a"));
  cut.join();
  EXPECT_FALSE(first.ok());
  EXPECT_EQ(first.code(), ErrorCode::kTimeout);
  ASSERT_TRUE(Joins(*a, "a"));
  EXPECT_TRUE(WaitUntil([&] { return a->IsLeader(); }));
  EXPECT_EQ(ElectionNodes(server_.port()).size(), 1u);
  EXPECT_EQ(a->Members().size(), 1u);
}

// The old node is removed when the process opens a new session.
TEST_F(CoordinatorFaultsTest, NodeOfAnEarlierSessionOfThisProcessIsRemoved) {
  auto before = Client(server_.port());
  ASSERT_TRUE(before->Join(Info("a")).ok());
  const auto again = Client(server_.port());  // the same incarnation in another session
  ASSERT_TRUE(again->Join(Info("a")).ok());
  EXPECT_EQ(ElectionNodes(server_.port()).size(), 1u);
  EXPECT_TRUE(again->IsLeader());
  EXPECT_TRUE(WaitUntil([&] { return before->State() == SessionState::kExpired; }));
  EXPECT_FALSE(before->IsLeader());
  EXPECT_FALSE(before->ProveSession().ok());
}

TEST_F(CoordinatorFaultsTest, SessionOutlivesARestartOfTheServer) {
  const auto a = Client(server_.port());
  const auto b = Client(server_.port());
  ASSERT_TRUE(a->Join(Info("a")).ok());
  ASSERT_TRUE(b->Join(Info("b")).ok());
  ASSERT_TRUE(WaitUntil([&] { return a->Members().size() == 2; }));
  ASSERT_TRUE(a->WriteAssignment({Generation(1), {{SegmentId(0), MemberId("b")}}}).ok());
  server_.process().Signal(SIGKILL);
  EXPECT_TRUE(WaitUntil([&] { return a->State() == SessionState::kSuspended; }));
  EXPECT_FALSE(a->ProveSession().ok());
  EXPECT_EQ(a->Members().size(), 2u) << "what was seen stays seen";
  server_.Start();
  ASSERT_TRUE(WaitUntil([&] { return a->ProveSession().ok() && b->ProveSession().ok(); }));
  EXPECT_TRUE(a->IsLeader());
  EXPECT_EQ(a->ReadAssignment()->owners.at(SegmentId(0)), MemberId("b"));
  EXPECT_EQ(*b->ProveSession(), Generation(1));
}

// A leader that cannot reach the server notices the end of its session when it is connected again.
TEST_F(CoordinatorFaultsTest, LeaderThatWasAwayLearnsThatItsSessionEnded) {
  TcpProxy proxy(server_.port());
  const auto a = Client(proxy.port());
  const auto b = Client(server_.port());
  ASSERT_TRUE(a->Join(Info("a")).ok());
  ASSERT_TRUE(b->Join(Info("b")).ok());
  ASSERT_TRUE(a->IsLeader());
  std::atomic<int> woken = 0;
  a->OnChange([&woken] { ++woken; });
  proxy.Freeze(true);
  ASSERT_TRUE(WaitUntil([&] { return b->IsLeader(); }));
  EXPECT_FALSE(a->ProveSession().ok());
  EXPECT_FALSE(a->WriteAssignment({Generation(1), {}}).ok());
  ASSERT_TRUE(b->WriteAssignment({Generation(1), {{SegmentId(0), MemberId("b")}}}).ok());
  proxy.Cut();
  proxy.Freeze(false);
  ASSERT_TRUE(WaitUntil([&] { return a->State() == SessionState::kExpired; }));
  EXPECT_GT(woken.load(), 0);
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(a->WriteAssignment({Generation(2), {}}).code(), ErrorCode::kUnavailable);
  ASSERT_TRUE(Joins(*a, "a"));
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(a->ReadAssignment()->generation, Generation(1));
}

TEST_F(CoordinatorFaultsTest, NodeThatSomebodyDeletedMeansRejoining) {
  const auto a = Client(server_.port());
  ASSERT_TRUE(a->Join(Info("a")).ok());
  auto operator_session = zookeeper::Session::Open({.servers = server_.address()}, {});
  ASSERT_TRUE(operator_session.ok() && (*operator_session)->AwaitConnected(20s));
  for (const std::string& name : ElectionNodes(server_.port())) {
    ASSERT_TRUE((*operator_session)->Delete("/c/election/" + name).ok());
  }
  EXPECT_TRUE(WaitUntil([&] { return a->State() == SessionState::kExpired; }));
  EXPECT_FALSE(a->ProveSession().ok());
  ASSERT_TRUE(Joins(*a, "a"));
  EXPECT_EQ(ElectionNodes(server_.port()).size(), 1u);
  EXPECT_TRUE(a->ProveSession().ok());
}

TEST_F(CoordinatorFaultsTest, GarbageInItsNodesIsNeverObeyed) {
  const auto a = Client(server_.port());
  ASSERT_TRUE(a->Join(Info("a")).ok());
  ASSERT_TRUE(a->WriteAssignment({Generation(1), {{SegmentId(0), MemberId("a")}}}).ok());
  auto other = zookeeper::Session::Open({.servers = server_.address()}, {});
  ASSERT_TRUE(other.ok() && (*other)->AwaitConnected(20s));
  ASSERT_TRUE((*other)->Create("/c/election/x-1", "{", zookeeper::Session::Life::kPersistent).ok());
  ASSERT_TRUE((*other)->Create("/c/election/y", "", zookeeper::Session::Life::kPersistent).ok());
  int failed = -1;
  ASSERT_TRUE(
      (*other)
          ->Commit({{.kind = zookeeper::Op::Kind::kSet, .path = "/c/assignment", .data = "[\xff"}},
                   10s, &failed)
          .ok());
  EXPECT_TRUE(WaitUntil([&] { return !a->ProveSession().ok(); }));
  EXPECT_EQ(a->ReadAssignment()->generation, Generation(1)) << "the last one that could be read";
  EXPECT_EQ(a->Members().size(), 1u);
  EXPECT_TRUE(a->IsLeader());
  // The unreadable value does not keep other members out, and a member that cannot read it does not
  // overwrite it.
  const auto b = Client(server_.port());
  ASSERT_TRUE(Joins(*b, "b"));
  EXPECT_EQ(b->ReadAssignment()->generation, Generation(0));
  EXPECT_TRUE(WaitUntil([&] { return a->Members().size() == 2; }));
  EXPECT_EQ(a->ReadAssignment()->generation, Generation(1));
  EXPECT_FALSE(a->WriteAssignment({Generation(2), {{SegmentId(0), MemberId("b")}}}).ok());
  EXPECT_FALSE(a->ProveSession().ok());
  EXPECT_FALSE(b->ProveSession().ok());
}

TEST_F(CoordinatorFaultsTest, SettingsSurviveTheServerAndAreReadAfterAWatchThatWasLost) {
  TcpProxy proxy(server_.port());
  const auto a = Client(proxy.port());
  const auto b = Client(server_.port());
  ASSERT_TRUE(a->Join(Info("a")).ok());
  ASSERT_TRUE(b->Join(Info("b")).ok());
  const ClusterSettings first{.version = 1, .values = {{"log.level", "debug"}}};
  const ClusterSettings second{.version = 2, .values = {{"log.level", "warn"}}};
  ASSERT_TRUE(b->WriteSettings(first).ok());
  ASSERT_TRUE(WaitUntil([&] { return a->ReadSettings().value_or({}) == first; }));
  // The notification is lost with the connection.
  proxy.Freeze(true);
  ASSERT_TRUE(b->WriteSettings(second).ok());
  proxy.Cut();
  proxy.Freeze(false);
  ASSERT_TRUE(WaitUntil([&] {
    if (a->State() == SessionState::kExpired) Joins(*a, "a");
    return a->ReadSettings().value_or({}) == second;
  }));
  server_.process().Signal(SIGKILL);
  EXPECT_TRUE(WaitUntil([&] { return b->State() == SessionState::kSuspended; }));
  EXPECT_FALSE(b->ReadSettings().ok());
  EXPECT_FALSE(b->WriteSettings({.version = 3}).ok());
  server_.Start();
  ASSERT_TRUE(WaitUntil([&] { return b->ReadSettings().value_or({}) == second; }));
  ASSERT_TRUE(WaitUntil([&] { return b->WriteSettings({.version = 3}).ok(); }));
  EXPECT_TRUE(WaitUntil([&] { return b->ReadSettings().value_or({}).version == 3; }));
}

TEST_F(CoordinatorFaultsTest, SettingsThatSomebodyDeletedOrSpoiltAreWrittenAgain) {
  const auto a = Client(server_.port());
  const auto b = Client(server_.port());
  ASSERT_TRUE(a->Join(Info("a")).ok());
  ASSERT_TRUE(b->Join(Info("b")).ok());
  const ClusterSettings settings{.version = 5, .values = {{"log.level", "debug"}}};
  const auto written_again = [&] {
    // Members and assignments continue to work, and the unreadable settings count as absent.
    EXPECT_TRUE(WaitUntil([&] { return a->ReadSettings().value_or({}).version == 0; }));
    EXPECT_TRUE(a->IsLeader());
    EXPECT_EQ(a->State(), SessionState::kConnected);
    EXPECT_TRUE(a->WriteSettings(settings).ok());
    return WaitUntil([&] { return b->ReadSettings().value_or({}) == settings; });
  };
  EXPECT_TRUE(written_again());
  auto other = zookeeper::Session::Open({.servers = server_.address()}, {});
  ASSERT_TRUE(other.ok() && (*other)->AwaitConnected(20s));
  ASSERT_TRUE((*other)->Delete("/c/config").ok());
  EXPECT_TRUE(written_again());
  int failed = -1;
  ASSERT_TRUE(
      (*other)
          ->Commit({{.kind = zookeeper::Op::Kind::kSet, .path = "/c/config", .data = "[\xff"}}, 10s,
                   &failed)
          .ok());
  EXPECT_TRUE(written_again());
  ASSERT_TRUE(a->WriteAssignment({Generation(1), {{SegmentId(0), MemberId("a")}}}).ok());
}

// If an unreadable record of trust counted as absent, any store that answers would be trusted. A
// new record is written only after someone has deleted the unreadable one.
TEST_F(CoordinatorFaultsTest, RecordOfTrustThatIsGarbageIsNotTakenForNone) {
  const auto a = Client(server_.port());
  ASSERT_TRUE(Joins(*a, "a"));
  const StoreTrust trust{.store_id = "s", .server_id = "v", .mark = 7};
  ASSERT_TRUE(a->WriteTrust(trust, std::nullopt).ok());
  auto other = zookeeper::Session::Open({.servers = server_.address()}, {});
  ASSERT_TRUE(other.ok() && (*other)->AwaitConnected(20s));
  int failed = -1;
  ASSERT_TRUE((*other)
                  ->Commit({{.kind = zookeeper::Op::Kind::kSet, .path = "/c/store", .data = "{}"}},
                           10s, &failed)
                  .ok());
  EXPECT_EQ(a->ReadTrust().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(a->WriteTrust(trust, std::nullopt).code(), ErrorCode::kCorrupt);
  ASSERT_TRUE((*other)->Delete("/c/store").ok());
  const auto none = a->ReadTrust();
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_FALSE(none->has_value());
  ASSERT_TRUE(a->WriteTrust(trust, *none).ok());
  EXPECT_EQ(a->ReadTrust().value_or(std::nullopt), trust);
}

// A server whose disk is full must not acknowledge writes that it would lose.
TEST_F(CoordinatorFaultsTest, ServerThatCannotWriteLosesNothing) {
  const auto a = Client(server_.port());
  ASSERT_TRUE(a->Join(Info("a")).ok());
  const rlimit full{.rlim_cur = 1 << 16, .rlim_max = RLIM_INFINITY};
  ASSERT_EQ(prlimit(server_.process().pid(), RLIMIT_FSIZE, &full, nullptr), 0);
  uint64_t acknowledged = 0;
  Assignment next{Generation(1), {}};
  for (uint32_t i = 0; i < 200; ++i) next.owners[SegmentId(i)] = MemberId("a");
  const bool refused = WaitUntil([&] {
    const Status written = a->WriteAssignment(next);
    if (!written.ok()) return true;
    acknowledged = next.generation.value();
    next.generation = Generation(acknowledged + 1);
    return false;
  });
  ASSERT_TRUE(refused);
  EXPECT_GT(acknowledged, 0u);
  server_.process().Signal(SIGKILL);
  server_.Start();
  ASSERT_TRUE(WaitUntil([&] {
    const bool joined = a->State() != SessionState::kExpired || Joins(*a, "a");
    return joined && a->ProveSession().ok();
  }));
  EXPECT_GE(a->ReadAssignment()->generation.value(), acknowledged);
}

// Three servers; the members connect to different ones.
class EnsembleTest : public ::testing::Test {
 protected:
  static constexpr int kServers = 3;

  // Each server reaches the quorum port of server `to` through its own proxy.
  void SetUp() override {
    for (int i = 0; i < kServers; ++i) ports_.push_back({FreePort(), FreePort()});
    for (int from = 0; from < kServers; ++from) {
      std::vector<Peer> seen = ports_;
      for (int to = 0; to < kServers; ++to) {
        if (to == from) continue;
        proxies_.push_back(std::make_unique<TcpProxy>(ports_[to].quorum_port));
        seen[to].quorum_port = proxies_.back()->port();
        routes_.push_back({from, to});
      }
      servers_.push_back(std::make_unique<ZookeeperServer>(
          ZookeeperServerOptions{.id = from + 1, .peers = seen, .sync_ticks = 100}));
    }
    for (auto& server : servers_) server->Launch();
    for (auto& server : servers_) ASSERT_TRUE(server->AwaitServing()) << server->log();
  }
  int Find(const std::string& mode, int except = -1) const {
    for (int i = 0; i < kServers; ++i) {
      if (i != except && servers_[i]->Mode() == mode) return i;
    }
    return -1;
  }
  void FreezeFrom(int from, bool frozen) {
    for (size_t i = 0; i < routes_.size(); ++i) {
      if (routes_[i].first == from) proxies_[i]->Freeze(frozen);
    }
  }

  std::vector<Peer> ports_;
  std::vector<std::pair<int, int>> routes_;
  std::vector<std::unique_ptr<TcpProxy>> proxies_;
  std::vector<std::unique_ptr<ZookeeperServer>> servers_;
};

// A follower that lost its leader still answers reads for a while. These answers must
// not be trusted.
TEST_F(EnsembleTest, StaleFollowerProvesNothing) {
  const int stale = Find("follower");
  const int leader = Find("leader");
  ASSERT_GE(stale, 0);
  ASSERT_GE(leader, 0);
  const auto a = Client(servers_[stale]->port());
  const auto b = Client(servers_[leader]->port());
  ASSERT_TRUE(WaitUntil([&] { return a->Join(Info("a")).ok(); }));
  ASSERT_TRUE(WaitUntil([&] { return b->Join(Info("b")).ok(); }));
  ASSERT_TRUE(a->IsLeader());
  ASSERT_TRUE(a->WriteAssignment({Generation(1), {{SegmentId(0), MemberId("a")}}}).ok());
  // A longer timeout than that of the members' sessions, so that the follower continues
  // to serve it.
  auto reader =
      zookeeper::Session::Open({.servers = servers_[stale]->address(), .timeout = 60s}, {});
  ASSERT_TRUE(reader.ok() && (*reader)->AwaitConnected(30s));
  FreezeFrom(stale, true);
  ASSERT_TRUE(WaitUntil([&] { return b->IsLeader(); })) << "a's session ends on the leader";
  ASSERT_TRUE(WaitUntil([&] {
    return b->WriteAssignment({Generation(2), {{SegmentId(0), MemberId("b")}}}).ok();
  }));
  const auto read = (*reader)->Get("/c/assignment", false);
  ASSERT_TRUE(read.ok()) << "the follower answers";
  EXPECT_EQ(read->version, 1) << "and does not know better";
  EXPECT_FALSE(a->ProveSession().ok());
  EXPECT_FALSE(a->WriteAssignment({Generation(2), {}}).ok());
  EXPECT_LE(a->ReadAssignment().value_or({}).generation, Generation(1));
  FreezeFrom(stale, false);
  ASSERT_TRUE(WaitUntil([&] { return a->State() == SessionState::kExpired; }));
  ASSERT_TRUE(WaitUntil([&] { return a->Join(Info("a")).ok(); }));
  EXPECT_FALSE(a->IsLeader());
  EXPECT_EQ(a->ReadAssignment()->generation, Generation(2));
}

}  // namespace
}  // namespace carillon::test
