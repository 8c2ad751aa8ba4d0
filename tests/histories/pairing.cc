#include "tests/histories/pairing.h"

#include "tests/support/failpoint_on.h"

namespace carillon::test {

std::string Describe(const Parting& parting) {
  std::string text = fmt::format("call {}: {}\n", parting.call, parting.arguments);
  for (const Difference& difference : parting.differences) {
    text += fmt::format("  {}\n    memory:   {}\n    database: {}\n", difference.field,
                        difference.memory, difference.database);
  }
  return text;
}

Pairing::Speed::Speed()
    : memory_held(failpoint::Reached("twin.plain.held")),
      memory_missed(failpoint::Reached("twin.plain.missed")),
      database_held(failpoint::Reached("plain.held")),
      database_missed(failpoint::Reached("plain.missed")) {}

void Pairing::CompareSpeed(const Speed& before, const Speed& between, Comparer& comparer) {
  const Speed after;
  comparer.Compare(between.memory_held - before.memory_held,
                   after.database_held - between.database_held, "batches written unread");
  comparer.Compare(between.memory_missed - before.memory_missed,
                   after.database_missed - between.database_missed, "batches read again");
}

}  // namespace carillon::test
