// A ZooKeeper server, alone or as a member of an ensemble, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/java_process.h"
#include "tests/support/process_wait.h"

namespace carillon::test {

// The ports of one server of the ensemble that the other servers connect to.
struct Peer {
  uint16_t quorum_port = 0;
  uint16_t election_port = 0;
};

struct ZookeeperServerOptions {
  int id = 0;                    // from 1 in an ensemble
  std::vector<Peer> peers = {};  // the whole ensemble as this server sees it, in order of id
  int tick_ms = 200;
  int sync_ticks = 10;  // how many ticks a follower may lag behind its leader
};

class ZookeeperServer {
 public:
  explicit ZookeeperServer(ZookeeperServerOptions options = {});

  // Starts the server and returns when it answers requests.
  void Start();
  // Starts the server without waiting, because the servers of an ensemble wait for each other.
  void Launch();
  bool AwaitServing();

  uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Returns "leader", "follower" or "standalone"; empty while the server answers no requests.
  std::string Mode() const;
  std::string log() const { return ReadFile(log_path_); }
  JavaProcess& process() { return process_; }

 private:
  std::string WriteConfig(const ZookeeperServerOptions& options) const;

  const ScratchDirectory scratch_;
  const std::string log_path_;
  const uint16_t port_;
  JavaProcess process_;
};

}  // namespace carillon::test
