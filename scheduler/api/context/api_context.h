// All that the REST API needs from its member. The composition root fills it.
#pragma once

#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/embedded_file.h"
#include "common/base/live_settings.h"
#include "common/base/metrics/metrics.h"
#include "common/config/load.h"
#include "common/domain/store_trust.h"
#include "common/ops/health.h"
#include "common/ports/store/stores.h"
#include "scheduler/explain/status_source.h"
#include "scheduler/notify/notice_sender.h"
#include "scheduler/secrets/keyring.h"
#include "scheduler/settings/new_fields.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

// The references must outlive the server. The functions are called on several threads at once.
struct ApiContext {
  // If the store is held, reads still work and writes are refused.
  Stores stores;
  const KeySource& secret_keys;  // seals and opens secrets
  StatusSource& status;          // state that only the member knows
  // Returns whether the store that answers is the trusted one; must not block.
  std::function<StoreStanding()> store_standing;
  // Makes the store that an operator was shown and has accepted the trusted store. Blocks as
  // a write does.
  std::function<Status(const StoreIdentity&)> accept_store;
  // Called after a write that can make work due; must not block.
  std::function<void(const ChangedWork&)> nudge;
  // Called after an executor was enabled, disabled, drained or labelled; must not block.
  std::function<void()> nudge_executors;
  // Returns cluster time, with which writes are dated. kUnavailable while cluster time
  // is not known.
  std::function<Result<WallTime>()> cluster_now;
  // Sends a test notification through every configured channel. Blocks until all have answered.
  std::function<std::vector<TestOutcome>()> test_notices;
  // Returns the configured channels, each with the outcome of the last message. Must not block.
  std::function<std::vector<ChannelHealth>()> channels;
  const ops::Health* health = nullptr;  // null: /livez and /readyz are 404
  const Clock& clock;
  uint64_t seed;  // for trace ids and generated job ids, never for anything secret
  Metrics& metrics;
  std::string version;     // of this build
  config::Config config;   // the configuration with which this member was started
  LiveSettings& settings;  // settings that are adopted here are passed to all members
  UpgradeWatch& upgrade;
  std::span<const NewField> new_fields = NewFields();  // off until an upgrade is finished
  EmbeddedFiles console = {};  // web-ui/dist; empty: the start page says how to build it
  bool one_process = false;    // bus and coordinator are part of this process
  bool serves_tls = false;     // true: cookies are Secure, and browsers use only https
  // PEM of the authority that signs certificates of executors. Empty: the control link has no TLS.
  std::string link_authority = {};
  // The address of the control link for executors that need neither ZooKeeper nor Kafka; empty:
  // executors find the members in ZooKeeper, or other hosts have none.
  std::string link_address = {};
  // Requests per second for each account, and for each address that sends requests without an
  // account. 0 = no limit.
  int64_t account_rate = 0;
  int64_t address_rate = 0;
  // If the store hangs, the status and the check of a credential wait for this long.
  Duration store_patience = 1s;
};

}  // namespace carillon::scheduler
