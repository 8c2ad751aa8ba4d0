#include "common/adapters/mysql/client/pool.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "common/adapters/mysql/client/identity.h"
#include "common/base/log.h"

namespace carillon::mysql {
namespace {

constexpr int kTakeNameSeconds = 3;  // a killed connection releases its lock much sooner
constexpr size_t kSlotsMax = 256;

std::string SlotName(std::string_view process, size_t slot) {
  return fmt::format("carillon.{}.{}", process, slot);
}

PoolOptions OfPool(PoolOptions options) {
  options.session.may_idle = false;
  return options;
}

// Ends the connection that holds the lock `name`, if there is one.
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

Pool::Shared::Shared(PoolOptions pool_options)
    : options(OfPool(std::move(pool_options))), slots(options.size) {
  CARILLON_CHECK(options.size > 0 && options.size <= kSlotsMax, "pool size");
  for (size_t slot = options.size; slot > 0; --slot) free.push_back(slot - 1);
}

Pool::Pool(PoolOptions options) : shared_(std::make_shared<Shared>(std::move(options))) {}
Pool::Pool(const Pool& other, StoreGate& gate, Gated gated)
    : shared_(other.shared_), gate_(&gate), gated_(gated) {}
Pool::~Pool() = default;

size_t Pool::size() const { return shared_->options.size; }

Pool::Lease::Lease(Lease&& other) noexcept
    : shared_(other.shared_),
      slot_(other.slot_),
      session_(std::move(other.session_)),
      reused_(other.reused_),
      dropped_(other.dropped_) {
  other.shared_ = nullptr;
}

Pool::Lease::~Lease() {
  if (shared_ != nullptr) shared_->Return(*this);
}

void Pool::Shared::Return(Lease& lease) {
  const bool keep = lease.session_ && !lease.dropped_ && lease.session_->healthy();
  const bool had_one = lease.session_ != nullptr;
  if (!keep) lease.session_.reset();  // closes, outside the lock
  {
    std::lock_guard lock(mu);
    Slot& slot = slots[lease.slot_];
    slot.idle = std::move(lease.session_);
    slot.leased = false;
    if (!keep && had_one) slot.stray = true;
    free.push_back(lease.slot_);
  }
  freed.notify_one();
}

// Prefers a slot whose connection was last used for the same purpose, because switching between
// reads and transactions costs a round trip. The second choice is a slot without a connection.
size_t Pool::Shared::TakeFree(Use use) {
  const auto warm = std::find_if(free.rbegin(), free.rend(), [&](size_t slot) {
    return slots[slot].idle && slots[slot].idle->transactional() == (use != Use::kRead);
  });
  const auto closed =
      std::find_if(free.rbegin(), free.rend(), [&](size_t slot) { return !slots[slot].idle; });
  const auto found = warm != free.rend() ? warm : closed != free.rend() ? closed : free.rbegin();
  const size_t slot = *found;
  free.erase(std::next(found).base());
  return slot;
}

Result<Pool::Lease> Pool::Borrow(std::string_view operation, Use use) {
  std::unique_lock lock(shared_->mu);
  if (!shared_->freed.wait_for(lock, shared_->options.wait,
                               [this] { return !shared_->free.empty(); })) {
    return {ErrorCode::kUnavailable,
            fmt::format("{}: all {} connections are busy (store.connections)", operation,
                        shared_->options.size)};
  }
  Lease lease(*shared_, shared_->TakeFree(use));
  shared_->slots[lease.slot_].leased = true;
  lease.session_ = std::move(shared_->slots[lease.slot_].idle);
  lock.unlock();
  // If Autocommit fails, the server has closed the connection. A new connection replaces it.
  const bool closed = lease.session_ && use == Use::kRead && !lease.session_->Autocommit().ok();
  if (closed || use == Use::kWriteOnNewConnection) lease.session_.reset();
  lease.reused_ = lease.session_ != nullptr;
  if (!lease.reused_) {
    CARILLON_ASSIGN_OR_RETURN(lease.session_, Open(lease.slot_));
  }
  lease.session_->set_operation(operation);
  return lease;
}

Result<Pool::Lease> Pool::Acquire(std::string_view operation, Use use) {
  const bool asks = gate_ != nullptr && (gated_ == Gated::kEverything || use != Use::kRead);
  if (!asks) return Borrow(operation, use);
  CARILLON_TRY(gate_->Check());
  CARILLON_ASSIGN_OR_RETURN(Lease lease, Borrow(operation, use));
  Status admitted = Inspect(*lease);
  if (!admitted.ok() && lease.reused() && IsConnectionLost(lease->last_error())) {
    // The connection was closed, perhaps by a restart of the server. Inspects a new connection.
    lease.session_.reset();
    lease.reused_ = false;
    CARILLON_ASSIGN_OR_RETURN(lease.session_, Open(lease.slot_));
    lease->set_operation(operation);
    admitted = Inspect(*lease);
  }
  if (admitted.ok()) return lease;
  lease.Drop();
  return admitted.error();
}

// Reads the stamp before the inspection. If the stamp changes during the inspection, the next use
// of the connection inspects it again.
Status Pool::Inspect(Session& session) {
  const uint64_t stamp = gate_->Stamp();
  if (session.admitted_under() == stamp) return {};
  const uint64_t mark = gate_->Mark();
  CARILLON_TRY(gate_->Admit(ReadIdentity(session), mark));
  session.set_admitted_under(stamp);
  return {};
}

Result<std::unique_ptr<Session>> Pool::Open(size_t slot) {
  CARILLON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                            Session::Connect(shared_->options.session));
  std::string process;
  {
    std::lock_guard lock(shared_->mu);
    process = shared_->process;
  }
  if (process.empty()) {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session->Ask("SELECT REPLACE(UUID(), '-', '')"));
    rows.Next();
    process = rows.Text(1);
    std::lock_guard lock(shared_->mu);
    if (shared_->process.empty()) shared_->process = process;
    process = shared_->process;
  }
  CARILLON_TRY(TakeName(*session, SlotName(process, slot)));
  std::lock_guard lock(shared_->mu);
  shared_->slots[slot].stray = false;
  return session;
}

// Takes the lock `name` of this slot. If the slot's previous connection still holds this lock, and
// perhaps row locks, ends that connection first.
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
    std::lock_guard lock(shared_->mu);
    if (!shared_->process.empty())
      return fmt::format("{}/{}", shared_->process, shared_->options.size);
  }
  CARILLON_ASSIGN_OR_RETURN(const Lease lease, Acquire("connect"));
  std::lock_guard lock(shared_->mu);
  return fmt::format("{}/{}", shared_->process, shared_->options.size);
}

Status Pool::EndConnectionsOf(Session& session, const std::string& connections) {
  const size_t slash = connections.find('/');
  if (slash == std::string::npos) return {};
  const std::string process = connections.substr(0, slash);
  size_t slots = 0;
  const char* const end = connections.data() + connections.size();
  if (std::from_chars(connections.data() + slash + 1, end, slots).ptr != end) return {};
  for (size_t slot = 0; slot < std::min(slots, kSlotsMax); ++slot) {
    CARILLON_TRY(EndHolder(session, SlotName(process, slot)));
  }
  return {};
}

Status Pool::EndStrays(Session& session) {
  std::vector<size_t> strays;
  std::string process;
  {
    std::lock_guard lock(shared_->mu);
    process = shared_->process;
    for (size_t slot = 0; slot < shared_->slots.size(); ++slot) {
      if (shared_->slots[slot].stray) strays.push_back(slot);
    }
  }
  // A slot that has reconnected meanwhile has ended its stray connection itself. This loop then
  // ends the slot's new connection. That is harmless: a transaction in progress is rolled back.
  for (const size_t slot : strays) {
    CARILLON_TRY(EndHolder(session, SlotName(process, slot)));
  }
  std::lock_guard lock(shared_->mu);
  for (const size_t slot : strays) shared_->slots[slot].stray = false;
  return {};
}

}  // namespace carillon::mysql
