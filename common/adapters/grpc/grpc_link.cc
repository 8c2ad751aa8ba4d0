#include "common/adapters/grpc/grpc_link.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/adapters/grpc/link_credentials.h"
#include "common/adapters/grpc/link_protocol.h"
#include "common/adapters/grpc/stream_outbox.h"
#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/wire/messages/control_codec.h"
#include "common/wire/messages/link_pieces.h"

namespace carillon::rpc {
namespace {

// A closing link waits this long for members to read the last messages, such as a goodbye.
constexpr Duration kFarewell = 500ms;
// A quiet executor that did not notice the end of its stream would not register with the next one.
constexpr Duration kNoticed = 300ms;

class Link;

// A member of which only the address is known. An id has no '@'.
MemberId KeyOfAddress(const std::string& address) { return MemberId("@" + address); }
bool IsListedByAddress(const MemberId& key) { return key.value().starts_with('@'); }

// One call to one member; kept alive by gRPC until OnDone.
class LinkStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                         public std::enable_shared_from_this<LinkStream> {
 public:
  LinkStream(Link& link, MemberId member, std::string address, const StreamOutbox::Limits& limits)
      : link_(link), member_(std::move(member)), address_(std::move(address)), outbox_(limits) {}

  void Begin(const LinkOptions& options, const tls::Identity& identity);
  Status Send(const std::string& bytes, OutboxLane lane);
  void Cancel() { context_.TryCancel(); }
  // Ends sending; the member ends the call once it has read everything.
  void EndWrites();
  void ReadOn();
  bool welcomed() const { return welcomed_.load(std::memory_order_acquire); }
  // The key of the member in the list of members.
  const MemberId& member() const { return member_; }
  // The member that has answered; only of a stream that is or was welcomed.
  const MemberId& name() const { return name_; }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  void Close();
  bool TakeWelcome(const Welcome& welcome);

  Link& link_;
  const MemberId member_;
  MemberId name_;  // constant once welcomed_ is set
  const std::string address_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  PieceJoiner pieces_;
  std::shared_ptr<LinkStream> self_;  // keeps this object until OnDone
  std::atomic<bool> welcomed_ = false;
  Mutex mu_;
  StreamOutbox outbox_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  bool writes_end_ GUARDED_BY(mu_) = false;
};

class Link final : public GrpcLink {
 public:
  Link(const LinkOptions& options, const Clock& clock, CurrentIdentity identity)
      : options_(options),
        clock_(clock),
        identity_(std::move(identity)),
        rng_(options.seed),
        dialler_([this] { Dial(); }) {}
  ~Link() override;

  void SetMembers(const std::vector<MemberInfo>& members) override;
  std::vector<std::string> public_keys() override;
  std::vector<MemberId> Members() override;
  Status Send(const MemberId& member, FromExecutor message) override;
  std::vector<MemberMessage> Receive(size_t max) override;
  void OnReadable(std::function<void()> wake) override;
  void Close(const MemberId& member) override;
  void MayWait(Duration span) override;

  // ---- for the streams ----
  // Accepts the message. Returns false if the inbox is full now. The stream must then wait: it is
  // read again once there is room.
  bool Take(MemberMessage message, size_t bytes, const std::shared_ptr<LinkStream>& stream);
  // False if another stream already leads to this member, which has several addresses in the list.
  bool Welcomed(const LinkStream& stream, const Welcome& welcome);
  void Ended(std::shared_ptr<LinkStream> stream, const grpc::Status& status);

 private:
  struct Member {
    std::string address;
    MemberId name = {};           // once it has answered
    std::string public_key = {};  // likewise
    std::shared_ptr<LinkStream> stream = {};
    bool departed = false;  // do not reconnect when its stream ends
    Backoff backoff{{.first = 50ms, .longest = 2s}};
    SteadyTime next_call = {};  // by the back-off
    SteadyTime calm_call = {};  // while MayWait allows a longer wait
  };

  bool HasRoom() const {
    return inbox_.size() < options_.inbox_max && inbox_bytes_ < options_.queue_bytes_max;
  }
  void Dial();
  std::vector<std::shared_ptr<LinkStream>> NewStreams(SteadyTime now, SteadyTime& next);
  void Wake();
  std::shared_ptr<LinkStream> StreamTo(const MemberId& member);  // null: none
  // A moment until which a call may wait; of many executors each has another one.
  SteadyTime CalmCall(SteadyTime now);
  SteadyTime NextCall(const Member& member) const {
    return may_wait_ > Duration{} ? std::max(member.next_call, member.calm_call) : member.next_call;
  }

  const LinkOptions options_;
  const Clock& clock_;
  const CurrentIdentity identity_;
  std::mutex mu_;
  std::condition_variable changed_;
  Rng rng_;
  std::map<MemberId, Member> members_;
  std::deque<std::pair<MemberMessage, size_t>> inbox_;  // each with its size in bytes
  size_t inbox_bytes_ = 0;
  std::vector<std::shared_ptr<LinkStream>> paused_;
  // Destroyed by our own threads only. A stream owns its channel, and destroying the last channel
  // of a process joins gRPC's callback threads; a callback thread would join itself.
  std::vector<std::shared_ptr<LinkStream>> ended_;
  std::function<void()> wake_;
  int alive_ = 0;  // streams that gRPC still uses
  Duration may_wait_{};
  bool stopping_ = false;
  std::thread dialler_;
};

OutboxLane LaneOf(const FromExecutor& message) {
  if (std::holds_alternative<CarriedRecord>(message)) return OutboxLane::kRecords;
  const auto* saved = std::get_if<AttemptSave>(&message);
  return saved != nullptr && saved->save.checkpoint ? OutboxLane::kBulk : OutboxLane::kControl;
}

void LinkStream::Begin(const LinkOptions& options, const tls::Identity& identity) {
  context_.AddMetadata(kExecutorMetadata, options.executor.value());
  context_.AddMetadata(kIncarnationMetadata, options.incarnation.value());
  context_.AddMetadata(kPiecesMetadata, "1");
  if (identity.empty()) context_.AddMetadata(kSecretMetadata, "Bearer " + options.join_secret);
  self_ = shared_from_this();
  grpc::ChannelArguments arguments = LinkArguments();
  grpc::GenericStub stub(grpc::CreateCustomChannel(
      address_,
      ChannelCredentials(
          identity, IsListedByAddress(member_) ? std::string(tls::kAnyMember) : member_.value(),
          arguments),
      arguments));
  stub.PrepareBidiStreamingCall(&context_, kAttachMethod, grpc::StubOptions(), this);
  AddHold();  // because Send writes outside the callbacks
  StartRead(&incoming_);
  StartCall();
}

Status LinkStream::Send(const std::string& bytes, OutboxLane lane) {
  MutexLock lock(mu_);
  if (closed_ || writes_end_) {
    return {ErrorCode::kUnavailable, "control link: the stream has ended"};
  }
  CARILLON_ASSIGN_OR_RETURN(const grpc::ByteBuffer* first, outbox_.Put(bytes, lane));
  if (first != nullptr) StartWrite(first);
  return {};
}

void LinkStream::EndWrites() {
  MutexLock lock(mu_);
  if (closed_ || std::exchange(writes_end_, true)) return;
  if (!outbox_.writing()) StartWritesDone();
}

void LinkStream::ReadOn() {
  MutexLock lock(mu_);
  if (!closed_) StartRead(&incoming_);
}

void LinkStream::Close() {
  {
    MutexLock lock(mu_);
    if (std::exchange(closed_, true)) return;
  }
  welcomed_.store(false, std::memory_order_release);
  context_.TryCancel();
  RemoveHold();
}

bool LinkStream::TakeWelcome(const Welcome& welcome) {
  if (!IsListedByAddress(member_) && welcome.member != member_) {
    log::Warn("link", "member={} is {} now", member_.value(), welcome.member.value());
    return false;
  }
  if (welcomed() || !link_.Welcomed(*this, welcome)) return false;
  name_ = welcome.member;
  if (welcome.takes_pieces) {
    MutexLock lock(mu_);
    outbox_.CutBulk();
  }
  welcomed_.store(true, std::memory_order_release);
  return true;
}

void LinkStream::OnReadDone(bool ok) {
  if (!ok) return Close();
  const auto whole = pieces_.Take(ToBytes(incoming_));
  if (whole.ok() && !*whole) return ReadOn();
  const size_t bytes = whole.ok() ? (*whole)->size() : 0;
  auto message = whole.ok() ? DecodeToExecutor(**whole) : whole.error();
  if (!message.ok()) {
    log::Warn("link", "member={}: {}", member_.value(), message.error().message);
    return Close();
  }
  if (const auto* welcome = std::get_if<Welcome>(&*message)) {
    if (!TakeWelcome(*welcome)) return Close();
    return ReadOn();
  }
  if (!welcomed()) return Close();
  auto& sent = std::get<ToExecutor>(*message);
  if (link_.Take({name_, std::move(sent)}, bytes, shared_from_this())) ReadOn();
}

void LinkStream::OnWriteDone(bool ok) {
  if (!ok) return Close();
  MutexLock lock(mu_);
  const grpc::ByteBuffer* next = outbox_.Next();
  if (closed_) return;
  if (next != nullptr) {
    StartWrite(next);
  } else if (writes_end_) {
    StartWritesDone();
  }
}

void LinkStream::OnDone(const grpc::Status& status) { link_.Ended(std::move(self_), status); }

Link::~Link() {
  {
    std::lock_guard lock(mu_);
    stopping_ = true;
    wake_ = nullptr;
  }
  changed_.notify_all();
  dialler_.join();
  std::unique_lock lock(mu_);
  for (auto& [id, member] : members_) {
    if (member.stream) member.stream->EndWrites();
  }
  // Resumes the paused streams, because a stream that is not read would not notice its end.
  for (const auto& stream : std::exchange(paused_, {})) stream->ReadOn();
  changed_.wait_for(lock, kFarewell, [this] { return alive_ == 0; });
  for (auto& [id, member] : members_) {
    if (member.stream) member.stream->Cancel();
  }
  changed_.wait(lock, [this] { return alive_ == 0; });
  const auto ended = std::exchange(ended_, {});
  lock.unlock();
}

// A member that left the list may still own segments, so a working stream to it is kept.
void Link::SetMembers(const std::vector<MemberInfo>& members) {
  std::vector<std::shared_ptr<LinkStream>> dropped;
  {
    std::lock_guard lock(mu_);
    std::map<MemberId, std::string> wanted;  // the last address if a member is listed twice
    for (const MemberInfo& member : members) {
      if (member.grpc_address.empty()) continue;
      wanted[member.id.value().empty() ? KeyOfAddress(member.grpc_address) : member.id] =
          member.grpc_address;
    }
    for (auto it = members_.begin(); it != members_.end();) {
      Member& member = it->second;
      const auto found = wanted.find(it->first);
      member.departed = found == wanted.end();
      const bool same = !member.departed && found->second == member.address;
      const bool works = member.departed && member.stream && member.stream->welcomed();
      if (same) wanted.erase(found);
      if (same || works) {
        ++it;
        continue;
      }
      if (member.stream) dropped.push_back(member.stream);
      it = members_.erase(it);
    }
    // A member that was restarted is new in the list, and so for the whole fleet at once.
    const SteadyTime now = clock_.Steady();
    for (const auto& [id, address] : wanted) {
      members_[id] = {.address = address, .calm_call = CalmCall(now)};
    }
  }
  for (const auto& stream : dropped) stream->Cancel();
  changed_.notify_all();
}

// Returns new streams for the members that have none and whose back-off is over. Sets `next` to the
// time when the next back-off ends.
std::vector<std::shared_ptr<LinkStream>> Link::NewStreams(SteadyTime now, SteadyTime& next) {
  std::vector<std::shared_ptr<LinkStream>> made;
  next = SteadyTime::max();
  for (auto& [id, member] : members_) {
    if (member.stream) continue;
    if (const SteadyTime call = NextCall(member); call > now) {
      next = std::min(next, call);
      continue;
    }
    member.stream =
        std::make_shared<LinkStream>(*this, id, member.address,
                                     StreamOutbox::Limits{.messages_max = options_.outbox_max,
                                                          .bytes_max = options_.queue_bytes_max});
    made.push_back(member.stream);
    ++alive_;
  }
  return made;
}

void Link::Dial() {
  std::unique_lock lock(mu_);
  while (!stopping_) {
    const SteadyTime now = clock_.Steady();
    SteadyTime next;
    auto ended = std::exchange(ended_, {});
    const auto streams = NewStreams(now, next);
    if (!streams.empty() || !ended.empty()) {
      lock.unlock();
      ended.clear();
      for (const auto& stream : streams) {
        stream->Begin(options_, identity_ ? identity_() : tls::Identity{});
      }
      lock.lock();
    } else if (next == SteadyTime::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, next - now);
    }
  }
}

bool Link::Welcomed(const LinkStream& stream, const Welcome& welcome) {
  {
    std::lock_guard lock(mu_);
    for (const auto& [key, member] : members_) {
      if (key == stream.member() || member.name != welcome.member) continue;
      if (!member.stream || !member.stream->welcomed()) continue;
      log::Warn("link", "{} and {} are both addresses of member={}", stream.member().value(),
                key.value(), welcome.member.value());
      return false;
    }
    const auto found = members_.find(stream.member());
    if (found == members_.end()) return true;
    found->second.name = welcome.member;
    found->second.public_key = welcome.public_key;
    found->second.backoff.Reset();
  }
  Wake();
  return true;
}

void Link::Ended(std::shared_ptr<LinkStream> stream, const grpc::Status& status) {
  log::Debug("link", "member={}: stream ended: {}", stream->member().value(),
             status.error_message());
  {
    std::lock_guard lock(mu_);
    const auto found = members_.find(stream->member());
    if (found != members_.end() && found->second.stream == stream) {
      if (found->second.departed) {
        members_.erase(found);
      } else {
        found->second.stream.reset();
        const SteadyTime now = clock_.Steady();
        found->second.next_call = now + found->second.backoff.Next(rng_);
        found->second.calm_call = CalmCall(now);
      }
    }
    std::erase(paused_, stream);
    ended_.push_back(std::move(stream));
    --alive_;
    // Notifies while the lock is held. If this was the last stream, the destructor may destroy
    // changed_ as soon as the lock is free.
    changed_.notify_all();
  }
}

void Link::Wake() {
  std::function<void()> wake;
  {
    std::lock_guard lock(mu_);
    wake = wake_;
  }
  if (wake) wake();
}

bool Link::Take(MemberMessage message, size_t bytes, const std::shared_ptr<LinkStream>& stream) {
  bool room = true;
  {
    std::lock_guard lock(mu_);
    inbox_.emplace_back(std::move(message), bytes);
    inbox_bytes_ += bytes;
    room = stopping_ || HasRoom();
    if (!room) paused_.push_back(stream);
  }
  Wake();
  return room;
}

std::vector<MemberMessage> Link::Receive(size_t max) {
  std::vector<MemberMessage> taken;
  std::vector<std::shared_ptr<LinkStream>> resumed;
  {
    std::lock_guard lock(mu_);
    while (!inbox_.empty() && taken.size() < max) {
      taken.push_back(std::move(inbox_.front().first));
      inbox_bytes_ -= inbox_.front().second;
      inbox_.pop_front();
    }
    if (HasRoom()) resumed.swap(paused_);
  }
  for (const auto& stream : resumed) stream->ReadOn();
  return taken;
}

std::vector<MemberId> Link::Members() {
  std::lock_guard lock(mu_);
  std::vector<MemberId> up;
  for (const auto& [id, member] : members_) {
    if (member.stream && member.stream->welcomed()) up.push_back(member.name);
  }
  return up;
}

std::shared_ptr<LinkStream> Link::StreamTo(const MemberId& member) {
  std::lock_guard lock(mu_);
  for (const auto& [key, listed] : members_) {
    if (listed.name == member && listed.stream && listed.stream->welcomed()) return listed.stream;
  }
  return nullptr;
}

Status Link::Send(const MemberId& member, FromExecutor message) {
  const std::shared_ptr<LinkStream> stream = StreamTo(member);
  if (!stream) {
    return {ErrorCode::kUnavailable, "control link: no stream to " + member.value()};
  }
  return stream->Send(EncodeFromExecutor(message), LaneOf(message));
}

void Link::Close(const MemberId& member) {
  if (const auto stream = StreamTo(member)) stream->Cancel();
}

// An executor that has got something to hold since then dials at once.
void Link::MayWait(Duration span) {
  std::lock_guard lock(mu_);
  const bool sooner = span < may_wait_;
  may_wait_ = span;
  if (sooner) changed_.notify_all();
}

SteadyTime Link::CalmCall(SteadyTime now) {
  if (may_wait_ <= Duration{}) return now;
  return now + kNoticed + Duration(rng_.Below(static_cast<uint64_t>(may_wait_.count())));
}

std::vector<std::string> Link::public_keys() {
  std::lock_guard lock(mu_);
  std::vector<std::string> keys;
  for (const auto& [id, member] : members_) {
    if (!member.public_key.empty()) keys.push_back(member.public_key);
  }
  return keys;
}

void Link::OnReadable(std::function<void()> wake) {
  std::lock_guard lock(mu_);
  wake_ = std::move(wake);
}

}  // namespace

std::unique_ptr<GrpcLink> GrpcLink::Make(const LinkOptions& options, const Clock& clock,
                                         CurrentIdentity identity) {
  return std::make_unique<Link>(options, clock, std::move(identity));
}

}  // namespace carillon::rpc
