// Accepts the connections of the control link for gRPC, which by itself takes as many as
// anybody opens.
//
// Threads  One thread of its own; the methods are thread-safe.
// Owns     The listening socket. An accepted descriptor belongs to gRPC, and is only looked at
//          here: its socket has a number that no other one ever has, which tells whether the
//          connection is still there.
// Always   Few connections of one address are held on which no executor has attached
//          (link_strangers.h). All connections together take at most `connections_max` descriptors,
//          so that the rest of the process has some left.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/adapters/grpc/link_strangers.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace carillon::rpc {

// Half of the descriptors that the process may open.
size_t LinkConnectionsMax();

class LinkAcceptor {
 public:
  struct Options {
    std::string address;        // an IP address or a name of this host
    uint16_t port = 0;          // 0 = any
    size_t strangers_max = 64;  // that are not new, of one address; of new ones, some times as many
    size_t connections_max = LinkConnectionsMax();
  };
  // Is told on the thread of the acceptor, not after Stop.
  class Taker {
   public:
    virtual ~Taker() = default;
    // The connection is the taker's from then on.
    virtual void Take(int fd) = 0;
    // A connection was closed at once.
    virtual void Refused() = 0;
  };
  // kUnavailable: the port is taken, or the address is not one of this host. `taker` must outlive
  // the acceptor.
  static Result<std::unique_ptr<LinkAcceptor>> Listen(Options options, Taker& taker);
  // Accepts nothing any more. Connections that were taken live on.
  ~LinkAcceptor();
  LinkAcceptor(const LinkAcceptor&) = delete;
  LinkAcceptor& operator=(const LinkAcceptor&) = delete;

  void Start();
  void Stop();
  int port() const { return port_; }
  // An executor has attached on the connection, which gRPC names so; and has ended its stream.
  void Know(const std::string& peer);
  void Forget(const std::string& peer);

 private:
  struct Connection {
    int fd = -1;
    uint64_t cookie = 0;  // of its socket
    std::string network;
    int streams = 0;  // a new one may begin before the end of the last is noticed
    std::optional<int64_t> stranger_since;  // in seconds; nullopt: it is known
  };
  using Connections = std::map<std::string, Connection>;  // by address and port
  LinkAcceptor(Options options, Taker& taker)
      : options_(std::move(options)),
        taker_(taker),
        strangers_(options_.strangers_max,
                   std::min(options_.strangers_max * LinkStrangers::kOfOneNew,
                            options_.connections_max / 4)) {}
  Status Open();
  void Run();
  void AcceptOne();
  void Tell(const std::string& address);
  bool Take(const std::string& address, const std::string& key, Connection connection);
  void SetStranger(Connections::value_type& entry, bool is_one) REQUIRES(mu_);
  Connections::iterator Drop(Connections::iterator ended) REQUIRES(mu_);
  void DropEnded() REQUIRES(mu_);
  void DropEndedStrangers(const std::string& network) REQUIRES(mu_);

  const Options options_;
  Taker& taker_;
  int listener_ = -1;
  int stop_ = -1;
  int port_ = 0;
  int64_t told_ = 0;  // when a refusal was logged; of the thread
  Mutex mu_;
  Connections connections_ GUARDED_BY(mu_);
  LinkStrangers strangers_ GUARDED_BY(mu_);
  int64_t dropped_ GUARDED_BY(mu_) = 0;  // when all were looked at
  std::thread thread_;
};

}  // namespace carillon::rpc
