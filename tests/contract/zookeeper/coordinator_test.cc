// The contract of the coordinator on a real ZooKeeper server.
#include <atomic>

#include "common/adapters/zookeeper/zookeeper_coordinator.h"
#include "common/adapters/zookeeper/zookeeper_directory.h"
#include "tests/support/process_wait.h"
#include "tests/support/zookeeper_server.h"

namespace carillon::test {

// One server for all tests, with a separate root for each.
struct ZookeeperCoordinatorFactory {
  static ZookeeperServer& Server() {
    static ZookeeperServer* server = [] {
      static ZookeeperServer made;
      made.Start();
      return &made;
    }();
    return *server;
  }
  std::unique_ptr<Coordinator> Client() {
    auto made = zookeeper::ZookeeperCoordinator::Make(
        {.connect = Server().address() + root, .session_timeout = 4s, .digest = "carillon:secret"});
    EXPECT_TRUE(made.ok()) << made.error().message;
    clients.push_back(made->get());
    return std::move(made).value();
  }
  // Another client takes the session over and closes it: the server then ends it for both clients.
  // This is repeated, because the owner may take the session back before the close is sent.
  void Expire(const Incarnation& incarnation) {
    for (zookeeper::ZookeeperCoordinator* client : clients) {
      if (client->incarnation() == incarnation) EndSession(client->session_identity());
    }
  }
  static void EndSession(const std::optional<zookeeper::SessionIdentity>& identity) {
    const bool expired = WaitUntil([&] {
      const auto other =
          zookeeper::Session::Open({.servers = Server().address(), .timeout = 4s}, {}, &*identity);
      return !other.ok() || !(*other)->AwaitConnected(10s);
    });
    EXPECT_TRUE(expired) << "the session outlived its end";
  }
  void Settle(const std::function<bool()>& seen) { WaitUntil(seen); }

  static std::string NextRoot() {
    static std::atomic<int> made = 0;
    return "/contract/" + std::to_string(++made);
  }
  const std::string root = NextRoot();
  std::vector<zookeeper::ZookeeperCoordinator*> clients;
};
using CoordinatorFactories = ::testing::Types<ZookeeperCoordinatorFactory>;

struct ZookeeperDirectoryFactory : ZookeeperCoordinatorFactory {
  std::unique_ptr<MemberDirectory> Directory() {
    auto made = zookeeper::ZookeeperDirectory::Make(
        {.connect = Server().address() + root, .session_timeout = 4s, .digest = "carillon:secret"});
    EXPECT_TRUE(made.ok()) << made.error().message;
    directories.push_back(made->get());
    return std::move(made).value();
  }
  std::unique_ptr<Coordinator> Member() { return Client(); }
  // Expires the session of the first directory. No case needs to expire another one.
  void Expire(const Incarnation&) { EndSession(directories.front()->session_identity()); }

  std::vector<zookeeper::ZookeeperDirectory*> directories;
};
using DirectoryFactories = ::testing::Types<ZookeeperDirectoryFactory>;

}  // namespace carillon::test

#include "tests/contract/messaging/coordinator_contract.h"
#include "tests/contract/messaging/directory_contract.h"
