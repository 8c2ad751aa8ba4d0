#include "tests/histories/twofold.h"

#include "tests/histories/paired_stores.h"
#include "tests/support/mariadb.h"

namespace carillon::test {

struct Twofold::Sides {
  explicit Sides(uint32_t segments) : mysql(database.Open(segments)) {}

  MariadbDatabase database;
  std::unique_ptr<mysql::MysqlStores> mysql;
  std::unique_ptr<PairedStores> paired;
};

Twofold::Twofold(Pairing::Tracer tracer) : pairing_(std::move(tracer)) {}
Twofold::~Twofold() = default;

Stores Twofold::Around(memory::MemoryStores& stores) {
  const StoreIdentity identity = *stores.identity.Identify();
  sides_ = std::make_unique<Sides>(identity.segment_count);
  pairing_.SetIdentities(identity, *sides_->mysql->identity.Identify());
  sides_->paired =
      std::make_unique<PairedStores>(stores.Ports(), sides_->mysql->Ports(), pairing_);
  return sides_->paired->Ports();
}

void Twofold::Act(WallTime, const std::function<void(const ChangedWork&)>&) {}

}  // namespace carillon::test
