// Accepts the connections of the control link for gRPC, which by itself takes as many as
// anybody opens.
//
// Threads  One thread of its own; the methods are thread-safe.
// Owns     The listening socket. An accepted descriptor belongs to gRPC, and is only looked at
//          here: its socket has a number that no other one ever has, which tells whether the
//          connection is still there.
// Always   At most `strangers_max` connections of one address are held that no executor has
//          attached on. All connections together take at most `connections_max` descriptors, so
//          that the rest of the process has some left.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>

#include "common/base/address_places.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace carillon::rpc {

// Half of the descriptors that the process may open.
size_t LinkConnectionsMax();

class LinkAcceptor {
 public:
  struct Options {
    std::string address;  // an IP address or a name of this host
    uint16_t port = 0;    // 0 = any
    size_t strangers_max = 64;
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
    std::string address;
    Place place;  // null: it is known
  };
  LinkAcceptor(Options options, Taker& taker)
      : options_(std::move(options)), taker_(taker), places_(options_.strangers_max) {}
  Status Open();
  void Run();
  void AcceptOne();
  void Tell(const std::string& address);
  void DropEnded() REQUIRES(mu_);

  const Options options_;
  Taker& taker_;
  AddressPlaces places_;
  int listener_ = -1;
  int stop_ = -1;
  int port_ = 0;
  int64_t told_ = 0;  // when a refusal was logged; of the thread
  Mutex mu_;
  std::map<std::string, Connection> connections_ GUARDED_BY(mu_);  // by address and port
  std::thread thread_;
};

}  // namespace carillon::rpc
