// Two stores that get the same calls in the same order: the twin in memory, and a database. Each
// pair of answers is compared. The caller gets the answer from memory.
//
// Place    Between the faults of the simulated processes and their stores, so that both stores see
//          the same faults.
// Threads  Not thread-safe; the simulator's one thread.
// Always   After the first difference, nothing is compared any more: what follows is a
//          consequence.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/ports/store/job_store.h"
#include "tests/histories/compare.h"

namespace carillon::test {

// The first call that the stores answered differently.
struct Parting {
  uint64_t call = 0;  // its number, from 1
  std::string name = {};
  std::string arguments = {};
  std::vector<Difference> differences = {};
};
std::string Describe(const Parting& parting);

// The number of a row that memory has assigned, as an argument.
struct RowId {
  IdOf kind = IdOf::kNone;
  uint64_t id = 0;

  operator uint64_t() const { return id; }  // NOLINT: implicit by design
};

class Pairing {
 public:
  using Tracer = std::function<void(const std::string&)>;
  explicit Pairing(Tracer tracer = {}) : tracer_(std::move(tracer)) {}
  Pairing(const Pairing&) = delete;
  Pairing& operator=(const Pairing&) = delete;

  // The identities of the two stores, which differ.
  void SetIdentities(StoreIdentity memory, StoreIdentity database) {
    ids_.SetIdentities(std::move(memory), std::move(database));
  }
  uint64_t calls() const { return calls_; }
  const std::optional<Parting>& parting() const { return parting_; }

  template <typename R, typename Port, typename... P, typename... A>
  R Both(std::string_view name, Port& memory, Port& database, R (Port::*call)(P...),
         const A&... arguments) {
    ++calls_;
    if (tracer_) tracer_(Call(name, arguments...));
    std::tuple<A...> theirs(arguments...);
    std::apply([this](A&... argument) { (Turn(argument), ...); }, theirs);
    EndedRuns ended;
    EndedRuns* const ours_ended = RedirectEnded(theirs, ended);
    const Speed before;
    R ours = (memory.*call)(arguments...);
    const Speed between;
    R answer = std::apply([&](A&... argument) { return (database.*call)(argument...); }, theirs);
    if (parting_) return ours;
    Comparer comparer(ids_);
    CompareAnswers(ours, answer, comparer);
    if (ours_ended != nullptr) comparer.Compare(*ours_ended, ended, "ended");
    CompareSpeed(before, between, comparer);
    if (!comparer.differences().empty()) {
      parting_ =
          Parting{calls_, std::string(name), Call(name, arguments...), comparer.differences()};
    }
    return ours;
  }

 private:
  // How often each store has written a batch of claims or results without reading its rows, and how
  // often it had to read them (common/domain/run/plain.h).
  struct Speed {
    Speed();
    uint64_t memory_held = 0;
    uint64_t memory_missed = 0;
    uint64_t database_held = 0;
    uint64_t database_missed = 0;
  };

  template <typename... A>
  static std::string Call(std::string_view name, const A&... arguments) {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + Text(arguments)), ...);
    return fmt::format("{}({})", name, text);
  }

  template <typename T>
  void Turn(T& argument) {
    if constexpr (std::is_same_v<T, RowId>) {
      argument.id = ids_.ToDatabase(argument.kind, argument.id);
    } else if constexpr (std::is_same_v<T, StoreIdentity>) {
      ids_.TurnToDatabase(argument);
    } else {
      TurnToDatabase(argument, ids_);
    }
  }

  // If the call writes what it ended: lets the call of the database write into `ended`, which gets
  // what is there before the call. Returns where the call of memory writes.
  template <typename... A>
  static EndedRuns* RedirectEnded(std::tuple<A...>& arguments, EndedRuns& ended) {
    EndedRuns* ours = nullptr;
    const auto redirect = [&]<typename T>(T& argument) {
      if constexpr (std::is_same_v<T, WriteContext>) {
        if (argument.ended == nullptr) return;
        ours = argument.ended;
        ended = *argument.ended;
        argument.ended = &ended;
      }
    };
    std::apply([&](A&... argument) { (redirect(argument), ...); }, arguments);
    return ours;
  }

  template <typename T>
  static void CompareAnswers(const Result<T>& memory, const Result<T>& database,
                             Comparer& comparer) {
    if (memory.ok() && database.ok()) {
      if constexpr (!std::is_void_v<T>) comparer.Compare(*memory, *database, "answer");
    } else if (memory.ok() || database.ok()) {
      const auto text = [](const Result<T>& result) {
        if (!result.ok()) {
          return fmt::format("{}: {}", ErrorCodeName(result.code()), result.error().message);
        }
        if constexpr (std::is_void_v<T>) {
          return std::string("ok");
        } else {
          return "ok: " + Text(*result);
        }
      };
      comparer.Add({"answer", text(memory), text(database)});
    } else {
      comparer.Compare(memory.error(), database.error(), "error");
    }
  }

  static void CompareSpeed(const Speed& before, const Speed& between, Comparer& comparer);

  const Tracer tracer_;
  StoreIds ids_;
  uint64_t calls_ = 0;
  std::optional<Parting> parting_;
};

// The base of a paired port.
template <typename Port>
class Paired : public Port {
 public:
  Paired(Port& memory, Port& database, Pairing& pairing)
      : memory_(memory), database_(database), pairing_(pairing) {}

 protected:
  template <typename R, typename... P, typename... A>
  R Both(std::string_view name, R (Port::*call)(P...), const A&... arguments) {
    return pairing_.Both(name, memory_, database_, call, arguments...);
  }

  Port& memory_;
  Port& database_;

 private:
  Pairing& pairing_;
};

}  // namespace carillon::test
