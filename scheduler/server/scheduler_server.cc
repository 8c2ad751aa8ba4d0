#include "scheduler/server/scheduler_server.h"

#include <utility>

#include "embedded/carillon_web_ui.h"

namespace carillon::scheduler {
namespace {

constexpr uint64_t kApiSeedTag = 0x61706900;  // so that API and member get different random numbers

}  // namespace

SchedulerServer::SchedulerServer(const Ports& ports, const MemberOptions& options)
    : ports_(ports),
      seed_(options.seed ^ kApiSeedTag),
      member_(ports.member, options),
      status_(member_) {}

ApiContext SchedulerServer::MakeApiContext(About about, bool serves_tls) {
  const MemberPorts& member = ports_.member;
  const bool behind_tls = about.config.Flag("rest.behind_tls");
  const int64_t account_rate = about.config.Integer("rest.account_rate");
  const int64_t address_rate = about.config.Integer("rest.address_rate");
  return {.stores = ports_.api,
          .secret_keys = ports_.secret_keys,
          .status = status_,
          .store_standing = [this] { return member_.GetStoreStanding(); },
          .accept_store = [this](const StoreIdentity& shown) { return member_.AcceptStore(shown); },
          .nudge = [this](const ChangedWork& work) { member_.Nudge(work); },
          .nudge_executors = [this] { member_.NudgeExecutors(); },
          .cluster_now = [this] { return member_.ClusterNow(); },
          .test_notices =
              [sender = member.sender] {
                return sender == nullptr ? std::vector<TestOutcome>() : sender->SendTest();
              },
          .channels =
              [sender = member.sender] {
                return sender == nullptr ? std::vector<ChannelHealth>() : sender->Channels();
              },
          .health = health_.get(),
          .clock = member.clock,
          .seed = seed_,
          .metrics = member.metrics,
          .version = std::move(about.version),
          .config = std::move(about.config),
          .settings = member.settings,
          .upgrade = member_.upgrade(),
          .console = WebUiFiles(),
          .one_process = about.one_process,
          .serves_tls = serves_tls || behind_tls,
          .link_authority = std::move(about.link_authority),
          .link_address = std::move(about.link_address),
          .account_rate = account_rate,
          .address_rate = address_rate};
}

std::vector<ops::ReadyCheck> SchedulerServer::ReadyChecks() {
  return {
      {.name = "store",
       .check = [this]() -> Status {
         auto now = ports_.api.segments.Now();
         return now.ok() ? Status() : Status(now.error());
       },
       .blocks = true},
      {.name = "store_identity",
       .check = [this]() -> Status {
         if (member_.GetStoreStanding().state == StoreState::kTrusted) return {};
         return {ErrorCode::kUnavailable,
                 "the store is held, or its trust record has not been read yet"};
       }},
      {.name = "member",
       .check = [this]() -> Status {
         if (member_.ready()) return {};
         return {ErrorCode::kUnavailable,
                 "segments are not owned yet, or the clock is not trusted"};
       },
       // A pause does not make the member unready; the answer only mentions it.
       .note = [this] { return ports_.member.settings.paused() ? ", paused" : ""; }},
      {.name = "draining",
       .check = [this]() -> Status {
         if (!draining_) return {};
         return {ErrorCode::kUnavailable, "stopping: waiting for running processes"};
       }},
  };
}

Status SchedulerServer::Listen(const ApiOptions& api, const ops::OpsOptions& ops, About about) {
  const bool tls = !api.tls.empty();
  health_ = std::make_unique<ops::Health>(ReadyChecks(), ports_.member.clock);
  CARILLON_ASSIGN_OR_RETURN(api_, ApiServer::Start(api, MakeApiContext(std::move(about), tls)));
  if (tls) certificate_watch_ = std::make_unique<CertificateWatch>(*api_, ports_.member.metrics);
  CARILLON_ASSIGN_OR_RETURN(ops_, ops::OpsServer::Start(ops, {.metrics = ports_.member.metrics,
                                                              .clock = ports_.member.clock,
                                                              .health = *health_}));
  member_.SetUrls({.rest = api_->url(), .ops = ops_->url(), .console = api_->public_url()});
  return {};
}

void SchedulerServer::StartLoops(Loops& loops) {
  for (const NamedStepper& named : member_.steppers()) {
    LoopRunner& runner = loops.Add(named.name, ports_.member.clock, *named.stepper);
    named.wake->Set([&runner] { runner.Wake(); });
  }
  if (!certificate_watch_) return;
  certificate_loop_ = &loops.Add("certificate", ports_.member.clock, *certificate_watch_);
}

bool SchedulerServer::ReloadCertificate() {
  if (certificate_loop_ == nullptr) return false;
  certificate_loop_->Wake();
  return true;
}

void SchedulerServer::StopListening() {
  if (api_) api_->Stop();
  if (ops_) ops_->Stop();
  if (health_) health_->Stop();
}

}  // namespace carillon::scheduler
