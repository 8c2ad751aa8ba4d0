// A guest of a simulated world that lets it use two stores at once: the twin in memory and MariaDB.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tests/histories/pairing.h"
#include "tests/sim/world_guest.h"

namespace carillon::test {

class Twofold final : public sim::WorldGuest {
 public:
  struct Options {
    std::optional<uint64_t> explores = {};  // the seed of an explorer's requests; nullopt: none
  };
  Twofold(const Options& options, Pairing::Tracer tracer);
  ~Twofold() override;

  Stores Around(memory::MemoryStores& stores) override;
  bool HasSeenEnough() const override { return pairing_.parting().has_value(); }
  // Compares all rows.
  void AtEnd(WallTime now) override;
  void Act(WallTime now, const std::function<void(const ChangedWork&)>& nudge) override;

  const Pairing& pairing() const { return pairing_; }

 private:
  struct Sides;

  const Options options_;
  Pairing pairing_;
  std::unique_ptr<Sides> sides_;
};

}  // namespace carillon::test
