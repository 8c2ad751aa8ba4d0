// Compares two answers field by field, and turns the arguments of a call into those for the
// database.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/histories/allowed.h"
#include "tests/histories/store_ids.h"
#include "tests/histories/values.h"

namespace carillon::test {

// One field in which the answers differ.
struct Difference {
  std::string field;
  std::string memory;
  std::string database;
};

class Comparer {
 public:
  explicit Comparer(StoreIds& ids) : ids_(ids) {}

  const std::vector<Difference>& differences() const { return differences_; }

  void Add(Difference difference) { differences_.push_back(std::move(difference)); }

  template <typename T>
  void Compare(const T& memory, const T& database, const std::string& path) {
    if constexpr (kIsOf<T, std::optional>) {
      if (memory.has_value() && database.has_value()) return Compare(*memory, *database, path);
      if (memory.has_value() != database.has_value()) Differ(memory, database, path);
    } else if constexpr (kIsOf<T, std::pair>) {
      Compare(memory.first, database.first, path);
      Compare(memory.second, database.second, path);
    } else if constexpr (IsSequence<T>) {
      CompareSequences(memory, database, path);
    } else if constexpr (std::is_same_v<T, CalendarSet>) {
      Compare(memory.version(), database.version(), path + ".version");
      Compare(memory.calendars(), database.calendars(), path + ".calendars");
    } else if constexpr (std::is_same_v<T, std::shared_ptr<const TriggerSet>>) {
      Compare(memory->all(), database->all(), path + ".all");
    } else if constexpr (std::is_same_v<T, std::shared_ptr<const JobDefinition>>) {
      Compare(*memory, *database, path);
    } else if constexpr (std::is_same_v<T, std::shared_ptr<const EventFilter>>) {
      return;  // follows from the definition
    } else if constexpr (std::is_aggregate_v<T> && !std::is_same_v<T, RunKey>) {
      CompareFields(memory, database, path);
    } else {
      if (!(memory == database)) Differ(memory, database, path);
    }
  }

 private:
  static constexpr size_t kShown = 12;

  template <typename T>
  void Differ(const T& memory, const T& database, const std::string& path) {
    if (differences_.size() < kShown) differences_.push_back({path, Text(memory), Text(database)});
  }

  template <typename T>
  void CompareSequences(const T& memory, const T& database, const std::string& path) {
    if (memory.size() != database.size()) {
      differences_.push_back({path + ".size()", fmt::format("{}: {}", memory.size(), Text(memory)),
                              fmt::format("{}: {}", database.size(), Text(database))});
      return;
    }
    auto theirs = database.begin();
    size_t at = 0;
    for (const auto& ours : memory) Compare(ours, *theirs++, fmt::format("{}[{}]", path, at++));
  }

  template <typename T>
  void CompareFields(const T& memory, const T& database, const std::string& path) {
    if constexpr (std::is_same_v<T, UnusedSlot>) ids_.LearnSlot(database);
    [&]<size_t... I>(std::index_sequence<I...>) {
      const auto ours = fields::TieFields(memory);
      const auto theirs = fields::TieFields(database);
      (CompareField<T, I>(std::get<I>(ours), std::get<I>(theirs), path), ...);
    }
    (std::make_index_sequence<fields::CountFields<T>()>());
  }

  template <typename T, size_t I, typename Field>
  void CompareField(const Field& memory, const Field& database, const std::string& path) {
    constexpr std::string_view name = fields::NameOfField<T, I>();
    constexpr IdOf kind = IdIn<T>(name);
    if constexpr (MayDiffer<T>(name)) {
      return;
    } else if constexpr (kind == IdOf::kNone) {
      Compare(memory, database, fmt::format("{}.{}", path, name));
    } else if constexpr (std::is_same_v<Field, uint64_t>) {
      if (!ids_.AreSame(kind, memory, database)) {
        Differ(memory, database, fmt::format("{}.{}", path, name));
      }
    } else {
      static_assert(std::is_same_v<Field, std::optional<uint64_t>>);
      const bool same = memory.has_value() == database.has_value() &&
                        (!memory || ids_.AreSame(kind, *memory, *database));
      if (!same) Differ(memory, database, fmt::format("{}.{}", path, name));
    }
  }

  StoreIds& ids_;
  std::vector<Difference> differences_;
};

// Replaces the numbers that memory has assigned by those of the database.
template <typename T>
void TurnToDatabase(T& value, const StoreIds& ids) {
  if constexpr (kIsOf<T, std::optional>) {
    if (value) TurnToDatabase(*value, ids);
  } else if constexpr (kIsOf<T, std::vector>) {
    for (auto& one : value) TurnToDatabase(one, ids);
  } else if constexpr (std::is_same_v<T, UnusedSlot>) {
    value.slot = ids.SlotOf(value);
  } else if constexpr (std::is_aggregate_v<T> && !kIsOf<T, KeyedAnswer>) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      const auto turn = [&ids]<typename Field>(Field& field, auto kind) {
        if constexpr (kind == IdOf::kNone) {
          TurnToDatabase(field, ids);
        } else if constexpr (std::is_same_v<Field, uint64_t>) {
          field = ids.ToDatabase(kind, field);
        } else if constexpr (kIsOf<Field, std::vector>) {
          for (uint64_t& id : field) id = ids.ToDatabase(kind, id);
        } else {
          if (field) field = ids.ToDatabase(kind, *field);
        }
      };
      const auto tied = fields::TieFields(value);
      (turn(std::get<I>(tied),
            std::integral_constant<IdOf, IdIn<T>(fields::NameOfField<T, I>())>()),
       ...);
    }
    (std::make_index_sequence<fields::CountFields<T>()>());
  }
}

}  // namespace carillon::test
