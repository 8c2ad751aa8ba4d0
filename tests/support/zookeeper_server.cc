#include "tests/support/zookeeper_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <sstream>

#include "common/base/check.h"

namespace carillon::test {
namespace {

constexpr Duration kServeLimit = 120s;

// Sends a four-letter command of ZooKeeper and returns the answer; empty if there is none.
std::string Ask(uint16_t port, const std::string& word) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{.tv_sec = 2, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      send(fd, word.data(), word.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(word.size())) {
    std::array<char, 1024> buffer{};
    ssize_t n = 0;
    while ((n = recv(fd, buffer.data(), buffer.size(), 0)) > 0) {
      answer.append(buffer.data(), static_cast<size_t>(n));
    }
  }
  close(fd);
  return answer;
}

}  // namespace

ZookeeperServer::ZookeeperServer(ZookeeperServerOptions options)
    : log_path_(scratch_ / "log"),
      port_(FreePort()),
      process_({"org.apache.zookeeper.server.quorum.QuorumPeerMain", WriteConfig(options)},
               log_path_) {}

std::string ZookeeperServer::WriteConfig(const ZookeeperServerOptions& options) const {
  const std::string data = scratch_ / "data";
  std::filesystem::create_directories(data);
  std::ostringstream text;
  text << "dataDir=" << data << "\nclientPort=" << port_ << "\nclientPortAddress=127.0.0.1"
       << "\ntickTime=" << options.tick_ms << "\nmaxSessionTimeout=60000"
       << "\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n"
       << "initLimit=50\nsyncLimit=" << options.sync_ticks << "\n";
  for (size_t i = 0; i < options.peers.size(); ++i) {
    text << "server." << i + 1 << "=127.0.0.1:" << options.peers[i].quorum_port << ":"
         << options.peers[i].election_port << "\n";
  }
  if (options.id > 0) WriteFile(data + "/myid", std::to_string(options.id));
  WriteFile(scratch_ / "zoo.cfg", text.str());
  return scratch_ / "zoo.cfg";
}

void ZookeeperServer::Launch() { process_.Start(); }

bool ZookeeperServer::AwaitServing() {
  return WaitUntil([this] { return !Mode().empty(); }, kServeLimit);
}

void ZookeeperServer::Start() {
  Launch();
  CARILLON_CHECK(AwaitServing(), "ZooKeeper does not serve: " + log());
}

std::string ZookeeperServer::Mode() const {
  const std::string answer = Ask(port_, "srvr");
  const size_t found = answer.find("Mode: ");
  if (found == std::string::npos) return "";
  return answer.substr(found + 6, answer.find('\n', found) - found - 6);
}

}  // namespace carillon::test
