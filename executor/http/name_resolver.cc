#include "executor/http/name_resolver.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/mutex.h"

namespace carillon::executor {
namespace {

class Getaddrinfo final : public HostLookup {
 public:
  Result<std::vector<std::string>> AddressesOf(const std::string& host) const override {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failed = getaddrinfo(host.c_str(), nullptr, &hints, &found);
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
    if (failed != 0) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("could not resolve host {}: {}", host, gai_strerror(failed))};
    }
    std::vector<std::string> addresses;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      std::array<char, NI_MAXHOST> text{};
      if (getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
        addresses.emplace_back(text.data());
      }
    }
    if (addresses.empty())
      return Error{ErrorCode::kNotFound, fmt::format("the host {} has no address", host)};
    return addresses;
  }
};

// One more for a job that has `of_job` of all the lookups in progress. Its share of the limit of a
// job must not exceed what is left of the limit of all.
bool MayBegin(size_t of_job, size_t all) {
  const size_t left = NameResolver::kLookupsMax - std::min(all, NameResolver::kLookupsMax);
  return left > 0 && of_job < NameResolver::kJobLookupsMax &&
         of_job * NameResolver::kLookupsMax <= left * NameResolver::kJobLookupsMax;
}

}  // namespace

std::shared_ptr<const HostLookup> SystemHostLookup() { return std::make_shared<Getaddrinfo>(); }

struct NameResolver::State {
  struct Wanted {
    std::string host;
    JobId job;
    SteadyTime until;
  };
  struct Kept {
    std::vector<std::string> addresses;
    SteadyTime until;
  };

  // The next name that may be looked up now; nullopt if there is none.
  std::optional<Wanted> Next(SteadyTime now) REQUIRES(mu) {
    wanted.remove_if([&](const Wanted& each) { return each.until <= now; });
    const auto next = std::find_if(wanted.begin(), wanted.end(), [&](const Wanted& each) {
      const auto of_job = jobs.find(each.job);
      return MayBegin(of_job == jobs.end() ? 0 : of_job->second, in_progress.size());
    });
    if (next == wanted.end()) return std::nullopt;
    const Wanted taken = *next;
    wanted.remove_if([&](const Wanted& each) { return each.host == taken.host; });
    in_progress.insert(taken.host);
    ++jobs[taken.job];
    return taken;
  }
  void Done(const Wanted& done, Result<std::vector<std::string>> addresses, SteadyTime now)
      REQUIRES(mu) {
    in_progress.erase(done.host);
    if (--jobs[done.job] == 0) jobs.erase(done.job);
    if (addresses.ok()) {
      std::erase_if(kept, [&](const auto& each) { return each.second.until <= now; });
      if (kept.size() < kKeptMax) kept[done.host] = {*addresses, now + kKeptFor};
    }
    answers.push_back({done.host, std::move(addresses)});
    if (wake) wake();
  }

  const std::shared_ptr<const HostLookup> lookup;
  Mutex mu;
  std::function<void()> wake GUARDED_BY(mu);  // empty after the end of the resolver
  const Clock* clock GUARDED_BY(mu);          // null after it
  size_t threads GUARDED_BY(mu) = 0;
  std::list<Wanted> wanted GUARDED_BY(mu);
  std::set<std::string> in_progress GUARDED_BY(mu);
  std::map<JobId, size_t> jobs GUARDED_BY(mu);  // lookups in progress
  std::map<std::string, Kept> kept GUARDED_BY(mu);
  std::vector<Answer> answers GUARDED_BY(mu);

  State(std::shared_ptr<const HostLookup> host_lookup, const Clock& time,
        std::function<void()> woken)
      : lookup(std::move(host_lookup)), wake(std::move(woken)), clock(&time) {}
};

NameResolver::NameResolver(std::shared_ptr<const HostLookup> lookup, const Clock& clock,
                           std::function<void()> wake)
    : state_(std::make_shared<State>(std::move(lookup), clock, std::move(wake))), clock_(clock) {}

NameResolver::~NameResolver() {
  const MutexLock lock(state_->mu);
  state_->wake = nullptr;
  state_->clock = nullptr;
  state_->wanted.clear();
}

void NameResolver::Ask(const std::string& host, const JobId& job, SteadyTime until) {
  const SteadyTime now = clock_.Steady();
  const MutexLock lock(state_->mu);
  const auto kept = state_->kept.find(host);
  if (kept != state_->kept.end() && now < kept->second.until) {
    state_->answers.push_back({host, kept->second.addresses});
    if (state_->wake) state_->wake();
    return;
  }
  if (state_->in_progress.contains(host)) return;
  const auto same =
      std::find_if(state_->wanted.begin(), state_->wanted.end(),
                   [&](const State::Wanted& each) { return each.host == host && each.job == job; });
  if (same != state_->wanted.end()) {
    same->until = std::max(same->until, until);
    return;
  }
  state_->wanted.push_back({host, job, until});
  if (state_->threads == kLookupsMax) return;
  try {
    std::thread([state = state_] { Work(state); }).detach();
    ++state_->threads;
  } catch (const std::system_error& error) {
    // The threads that there are look it up later.
    if (state_->threads > 0) return;
    state_->wanted.pop_back();
    state_->answers.push_back(
        {host, Error{ErrorCode::kNotFound,
                     fmt::format("no thread to resolve host {}: {}", host, error.what())}});
    if (state_->wake) state_->wake();
  }
}

std::vector<NameResolver::Answer> NameResolver::Take() {
  const MutexLock lock(state_->mu);
  return std::exchange(state_->answers, {});
}

void NameResolver::Work(const std::shared_ptr<State>& state) {
  while (true) {
    std::optional<State::Wanted> wanted;
    {
      const MutexLock lock(state->mu);
      if (state->clock != nullptr) wanted = state->Next(state->clock->Steady());
      if (!wanted) {
        --state->threads;
        return;
      }
    }
    auto addresses = state->lookup->AddressesOf(wanted->host);
    const MutexLock lock(state->mu);
    if (state->clock != nullptr) state->Done(*wanted, std::move(addresses), state->clock->Steady());
  }
}

}  // namespace carillon::executor
