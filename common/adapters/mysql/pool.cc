#include "common/adapters/mysql/pool.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "common/base/log.h"

namespace carillon::mysql {
namespace {

constexpr int kTakeNameSeconds = 3;  // a killed connection lets go of its lock well within this
constexpr size_t kSlotsMax = 256;

std::string LockName(std::string_view process, size_t slot) {
  return fmt::format("carillon.{}.{}", process, slot);
}

// Ends whatever connection holds the lock `name`. None is fine.
Status EndHolder(Session& session, const std::string& name) {
  uint64_t holder = 0;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT IS_USED_LOCK(?)", {name}));
    if (!rows.Next() || rows.IsNull(1)) return {};
    holder = rows.Unsigned(1);
  }
  if (holder == session.connection_id()) return {};
  log::Debug("mysql", "ending connection {}, which holds {}", holder, name);
  return session.Kill(holder);
}

}  // namespace

Pool::Pool(PoolOptions options) : options_(std::move(options)), slots_(options_.size) {
  CARILLON_CHECK(options_.size > 0 && options_.size <= kSlotsMax, "pool size");
  for (size_t slot = options_.size; slot > 0; --slot) free_.push_back(slot - 1);
}

Pool::~Pool() = default;

Pool::Lease::Lease(Lease&& other) noexcept
    : pool_(other.pool_),
      slot_(other.slot_),
      session_(std::move(other.session_)),
      reused_(other.reused_),
      dropped_(other.dropped_) {
  other.pool_ = nullptr;
}

Pool::Lease::~Lease() {
  if (pool_ != nullptr) pool_->Return(*this);
}

void Pool::Return(Lease& lease) {
  const bool keep = lease.session_ && !lease.dropped_ && lease.session_->healthy();
  const bool had_one = lease.session_ != nullptr;
  if (!keep) lease.session_.reset();  // closes, outside the lock
  {
    std::lock_guard lock(mu_);
    Slot& slot = slots_[lease.slot_];
    slot.idle = std::move(lease.session_);
    slot.leased = false;
    if (!keep && had_one) slot.stray = true;
    free_.push_back(lease.slot_);
  }
  freed_.notify_one();
}

Result<Pool::Lease> Pool::Acquire(std::string_view operation) {
  std::unique_lock lock(mu_);
  if (!freed_.wait_for(lock, options_.wait, [this] { return !free_.empty(); })) {
    return {
        ErrorCode::kUnavailable,
        fmt::format("{}: all {} connections are busy (store.pool_size)", operation, options_.size)};
  }
  Lease lease(*this, free_.back());
  free_.pop_back();
  slots_[lease.slot_].leased = true;
  lease.session_ = std::move(slots_[lease.slot_].idle);
  lock.unlock();
  lease.reused_ = lease.session_ != nullptr;
  if (!lease.reused_) {
    CARILLON_ASSIGN_OR_RETURN(lease.session_, Open(lease.slot_));
  }
  lease.session_->set_operation(operation);
  return lease;
}

Result<std::unique_ptr<Session>> Pool::Open(size_t slot) {
  CARILLON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Connect(options_.session));
  std::string process;
  {
    std::lock_guard lock(mu_);
    process = process_;
  }
  if (process.empty()) {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session->Ask("SELECT REPLACE(UUID(), '-', '')"));
    rows.Next();
    process = rows.Text(1);
    std::lock_guard lock(mu_);
    if (process_.empty()) process_ = process;
    process = process_;
  }
  CARILLON_TRY(TakeName(*session, LockName(process, slot)));
  std::lock_guard lock(mu_);
  slots_[slot].stray = false;
  return session;
}

// The predecessor of this slot may live on at the server, with row locks: it goes first.
Status Pool::TakeName(Session& session, const std::string& name) {
  for (const int wait : {0, kTakeNameSeconds}) {
    if (wait > 0) CARILLON_TRY(EndHolder(session, name));
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT GET_LOCK(?, ?)", {name, static_cast<int64_t>(wait)}));
    if (rows.Next() && rows.Int(1) == 1) return {};
  }
  return {ErrorCode::kUnavailable, "connect: the old connection of this slot does not go away"};
}

Result<std::string> Pool::Connections() {
  {
    std::lock_guard lock(mu_);
    if (!process_.empty()) return fmt::format("{}/{}", process_, options_.size);
  }
  CARILLON_ASSIGN_OR_RETURN(const Lease lease, Acquire("connect"));
  std::lock_guard lock(mu_);
  return fmt::format("{}/{}", process_, options_.size);
}

Status Pool::EndConnectionsOf(Session& session, const std::string& connections) {
  const size_t slash = connections.find('/');
  if (slash == std::string::npos) return {};
  const std::string process = connections.substr(0, slash);
  size_t slots = 0;
  const char* const end = connections.data() + connections.size();
  if (std::from_chars(connections.data() + slash + 1, end, slots).ptr != end) return {};
  for (size_t slot = 0; slot < std::min(slots, kSlotsMax); ++slot) {
    CARILLON_TRY(EndHolder(session, LockName(process, slot)));
  }
  return {};
}

Status Pool::EndStrays(Session& session) {
  std::vector<size_t> strays;
  std::string process;
  {
    std::lock_guard lock(mu_);
    process = process_;
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot].stray) strays.push_back(slot);
    }
  }
  // A slot that reconnects meanwhile has ended its stray itself and would be ended for nothing;
  // that costs it one transaction, undone.
  for (const size_t slot : strays) {
    CARILLON_TRY(EndHolder(session, LockName(process, slot)));
  }
  std::lock_guard lock(mu_);
  for (const size_t slot : strays) slots_[slot].stray = false;
  return {};
}

}  // namespace carillon::mysql
