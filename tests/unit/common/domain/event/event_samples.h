// Events for tests, with values from a table.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/domain/condition/condition.h"
#include "common/domain/event/event.h"

namespace carillon::test {

// The values of an event, by name. A name that is not there has none.
class TableOfValues final : public NamedValues {
 public:
  using Table = std::map<std::string, ConditionValue, std::less<>>;

  explicit TableOfValues(Table table) : table_(std::move(table)) {}

  std::optional<ConditionValue> At(std::string_view name) const override {
    const auto found = table_.find(name);
    return found == table_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const Table table_;
};

inline ConditionValue Whole(int64_t number) {
  return ConditionNumber{.whole = number, .real = static_cast<double>(number)};
}
inline ConditionValue Real(double number) {
  return ConditionNumber{.is_whole = false, .real = number};
}
inline ConditionValue TextValue(std::string text) { return text; }

// `data`: by name, with "data." before it.
inline Event EventOf(EventOrigin origin, TableOfValues::Table data = {}) {
  data["id"] = origin.id;
  data["source"] = origin.source;
  data["type"] = origin.type;
  if (!origin.subject.empty()) data["subject"] = origin.subject;
  return {std::move(origin), std::make_shared<const TableOfValues>(std::move(data))};
}

}  // namespace carillon::test
