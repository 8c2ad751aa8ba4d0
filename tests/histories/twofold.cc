#include "tests/histories/twofold.h"

#include "tests/histories/all_rows.h"
#include "tests/histories/explorer.h"
#include "tests/histories/paired_stores.h"
#include "tests/support/mariadb.h"

namespace carillon::test {

struct Twofold::Sides {
  explicit Sides(uint32_t segments) : mysql(database.Open(segments)) {}

  MariadbDatabase database;
  std::unique_ptr<mysql::MysqlStores> mysql;
  std::unique_ptr<PairedStores> paired;
  std::unique_ptr<Explorer> explorer;
};

Twofold::Twofold(const Options& options, Pairing::Tracer tracer)
    : options_(options), pairing_(std::move(tracer)) {}
Twofold::~Twofold() = default;

Stores Twofold::Around(memory::MemoryStores& stores) {
  const StoreIdentity identity = *stores.identity.Identify();
  sides_ = std::make_unique<Sides>(identity.segment_count);
  pairing_.SetIdentities(identity, *sides_->mysql->identity.Identify());
  sides_->paired = std::make_unique<PairedStores>(stores.Ports(), sides_->mysql->Ports(), pairing_);
  const Stores ports = sides_->paired->Ports();
  if (options_.explores) sides_->explorer = std::make_unique<Explorer>(ports, *options_.explores);
  return ports;
}

void Twofold::Act(WallTime now, const std::function<void(const ChangedWork&)>& nudge) {
  if (sides_->explorer) sides_->explorer->Act(now, nudge);
}

void Twofold::AtEnd(WallTime now) { ReadAllRows(sides_->paired->Ports(), now); }

}  // namespace carillon::test
