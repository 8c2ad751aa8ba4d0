// A member of the scheduler with its servers: `Member`, the REST API and the ops port.
//
// Place    The scheduler's half of `carillon standalone`, and all of `carillon-scheduler`.
// Threads  Called by one thread. The member's loops run on the Loops that StartLoops is given.
// Owns     Member and servers. The ports must outlive it. Stop the loops before it is destroyed.
// Errors   Listen: the errors of ApiServer::Start and ops::OpsServer::Start.
// Always   No job fires before StartLoops. So a server whose network port is already in use fails
//          to start before it fires anything.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "common/base/loops/loops.h"
#include "common/config/load.h"
#include "common/ops/ops_server.h"
#include "common/ports/store/stores.h"
#include "scheduler/api/server/api_server.h"
#include "scheduler/member/member.h"
#include "scheduler/server/certificate_watch.h"
#include "scheduler/server/member_status_source.h"

namespace carillon::scheduler {

class SchedulerServer {
 public:
  struct Ports {
    MemberPorts member;
    Stores api;  // reads also work while the store is held; the guard checks writes
    const KeySource& secret_keys;
  };
  // Facts about this build and its configuration that the API reports.
  struct About {
    std::string version;
    config::Config config;            // as at the start; secrets are not in it but in files
    std::string link_authority = {};  // see ApiContext
    std::string link_address = {};    // see ApiContext
    bool one_process = false;         // see ApiContext
  };
  SchedulerServer(const Ports& ports, const MemberOptions& options);

  // Binds both network ports. Requests are then answered. No job fires yet.
  Status Listen(const ApiOptions& api, const ops::OpsOptions& ops, About about);
  void StartLoops(Loops& loops);
  void Tune(const MemberTuning& tuning) { member_.Tune(tuning); }
  bool ready() const { return member_.ready(); }
  // An error must end the process.
  Status Supervise() { return member_.upgrade().CheckProgram(); }
  const MemberView& view() const { return member_; }
  // Reloads the files of the certificate now if they changed. False: the API does not use TLS.
  bool ReloadCertificate();
  // Makes /readyz fail. Everything else continues.
  void BeginDrain() { draining_ = true; }
  // Ends both servers. The order of a clean stop: StopListening, stop the loops, Leave.
  void StopListening();
  void Leave() { member_.Leave(); }

  std::string url() const { return api_->url(); }
  std::string public_url() const { return api_->public_url(); }
  std::string ops_url() const { return ops_->url(); }
  uint16_t ops_port() const { return ops_->port(); }

 private:
  ApiContext MakeApiContext(About about, bool serves_tls);
  std::vector<ops::ReadyCheck> ReadyChecks();

  const Ports ports_;
  const uint64_t seed_;
  Member member_;
  MemberStatusSource status_;
  std::atomic<bool> draining_ = false;
  std::unique_ptr<ops::Health> health_;  // destroyed after the servers that answer with it
  std::unique_ptr<ApiServer> api_;
  std::unique_ptr<CertificateWatch> certificate_watch_;  // null without TLS
  LoopRunner* certificate_loop_ = nullptr;
  std::unique_ptr<ops::OpsServer> ops_;
};

}  // namespace carillon::scheduler
