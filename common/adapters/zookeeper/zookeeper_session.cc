#include "common/adapters/zookeeper/zookeeper_session.h"

#include <array>
#include <cstring>
#include <utility>

#include "common/adapters/zookeeper/zookeeper_error.h"
#include "common/adapters/zookeeper/zookeeper_include.h"
#include "common/base/log.h"

namespace carillon::zookeeper {
namespace {

constexpr int kDataBytesMax = 1 << 20;  // the server's own limit (jute.maxbuffer)

struct Nothing {};

// Shared by a caller and a completion. The completion may arrive after the
// caller has stopped waiting.
template <typename Reply>
class Call {
 public:
  using Held = std::shared_ptr<Call>;

  void Finish(int rc, Reply reply) {
    {
      std::lock_guard lock(mu_);
      rc_ = rc;
      reply_ = std::move(reply);
      done_ = true;
    }
    changed_.notify_all();
  }
  // Returns the return code, or ZOPERATIONTIMEOUT after `limit`.
  int Await(Duration limit, Reply& reply) {
    std::unique_lock lock(mu_);
    if (!changed_.wait_for(lock, limit, [this] { return done_; })) return ZOPERATIONTIMEOUT;
    reply = std::move(reply_);
    return rc_;
  }

  // Hold wraps the call as the `data` of its completion. Take unwraps the call in the completion.
  static const void* Hold(const Held& call) { return new Held(call); }
  static Held Take(const void* data) {
    const std::unique_ptr<const Held> held(static_cast<const Held*>(data));
    return *held;
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  bool done_ = false;
  int rc_ = ZOK;
  Reply reply_ = {};
};

// Sends with `send(data)` and waits for the reply. A request that `send` rejects has no completion.
template <typename Reply, typename Send>
int Perform(Duration limit, Reply& reply, Send send) {
  const auto call = std::make_shared<Call<Reply>>();
  const void* data = Call<Reply>::Hold(call);
  const int sent = send(data);
  if (sent != ZOK) {
    Call<Reply>::Take(data);
    return sent;
  }
  return call->Await(limit, reply);
}

void OnVoid(int rc, const void* data) { Call<Nothing>::Take(data)->Finish(rc, {}); }

void OnString(int rc, const char* value, const void* data) {
  Call<std::string>::Take(data)->Finish(rc, rc == ZOK ? value : "");
}

void OnNode(int rc, const char* value, int length, const Stat* stat, const void* data) {
  Node node;
  if (rc == ZOK) {
    if (length > 0) node.data.assign(value, static_cast<size_t>(length));
    node.version = stat->version;
    node.created = stat->czxid;
    node.owner = stat->ephemeralOwner;
  }
  Call<Node>::Take(data)->Finish(rc, std::move(node));
}

void OnChildren(int rc, const String_vector* names, const void* data) {
  std::vector<std::string> children;
  if (rc == ZOK) {
    for (int i = 0; i < names->count; ++i) children.emplace_back(names->data[i]);
  }
  Call<std::vector<std::string>>::Take(data)->Finish(rc, std::move(children));
}

// Data of a transaction's completion. The client library fills `results`, so `results` must live
// until the completion.
struct TransactionCall {
  std::shared_ptr<Call<int>> call;
  std::vector<zoo_op_result_t> results;
};

void OnCommit(int rc, const void* data) {
  const std::unique_ptr<const TransactionCall> held(static_cast<const TransactionCall*>(data));
  int failed = -1;
  for (size_t i = 0; i < held->results.size() && failed < 0; ++i) {
    const int err = held->results[i].err;
    // Steps after the rejected one have ZRUNTIMEINCONSISTENCY.
    if (err != ZOK && err != ZRUNTIMEINCONSISTENCY) failed = static_cast<int>(i);
  }
  held->call->Finish(rc, failed);
}

zoo_op_t ToOp(const Op& op) {
  zoo_op_t made{};
  if (op.kind == Op::Kind::kCheck) {
    zoo_check_op_init(&made, op.path.c_str(), op.version);
  } else {
    zoo_set_op_init(&made, op.path.c_str(), op.data.data(), static_cast<int>(op.data.size()),
                    op.version, nullptr);
  }
  return made;
}

void LogLine(const char* message) { log::Debug("zookeeper", "{}", message); }

int Milliseconds(Duration d) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

}  // namespace

Session::Session(SessionOptions options, std::function<void()> on_event)
    : options_(std::move(options)), on_event_(std::move(on_event)) {}

Result<std::unique_ptr<Session>> Session::Open(SessionOptions options,
                                               std::function<void()> on_event,
                                               const SessionIdentity* identity) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
  std::unique_ptr<Session> session(new Session(std::move(options), std::move(on_event)));
  clientid_t known{};
  if (identity != nullptr) {
    known.client_id = identity->id;
    std::memcpy(known.passwd, identity->password.data(),
                std::min(identity->password.size(), sizeof(known.passwd)));
  }
  session->handle_ = zookeeper_init2(
      session->options_.servers.c_str(), &Session::OnEvent, Milliseconds(session->options_.timeout),
      identity != nullptr ? &known : nullptr, session.get(), 0, &LogLine);
  if (session->handle_ == nullptr) {
    return Error{ErrorCode::kUnavailable,
                 "zookeeper: " + session->options_.servers + ": " + std::strerror(errno)};
  }
  // Resolves names again only after a connection was lost, not in every turn of the I/O thread.
  zoo_set_servers_resolution_delay(session->handle_, -1);
  CARILLON_TRY(session->Authenticate());
  return session;
}

Session::~Session() {
  if (handle_ != nullptr) zookeeper_close(handle_);
}

void Session::OnEvent(_zhandle*, int type, int state, const char*, void* self) {
  Session& session = *static_cast<Session*>(self);
  if (type == ZOO_SESSION_EVENT) {
    Contact contact = Contact::kConnecting;
    if (state == ZOO_CONNECTED_STATE) contact = Contact::kConnected;
    // A rejected password is as final as an expiry.
    if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
      contact = Contact::kExpired;
    }
    {
      std::lock_guard lock(session.mu_);
      session.contact_.store(contact, std::memory_order_release);
    }
    session.changed_.notify_all();
  }
  if (session.on_event_) session.on_event_();
}

// Called before any request, so that the client sends the credentials first on every connection.
Status Session::Authenticate() {
  if (options_.digest.empty()) return {};
  const int rc = zoo_add_auth(handle_, "digest", options_.digest.data(),
                              static_cast<int>(options_.digest.size()), nullptr, nullptr);
  if (rc != ZOK) return MakeError("authenticate", "", rc, Effect::kRead);
  return {};
}

bool Session::AwaitConnected(Duration limit) {
  std::unique_lock lock(mu_);
  changed_.wait_for(lock, limit, [this] { return contact() != Contact::kConnecting; });
  return contact() == Contact::kConnected;
}

SessionIdentity Session::identity() const {
  const clientid_t* id = zoo_client_id(handle_);
  return {.id = id->client_id, .password = std::string(id->passwd, sizeof(id->passwd))};
}

Result<std::string> Session::Create(const std::string& path, const std::string& data, Life life) {
  const ACL_vector* acl = options_.digest.empty() ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_CREATOR_ALL_ACL;
  const int flags = life == Life::kPersistent  ? 0
                    : life == Life::kEphemeral ? ZOO_EPHEMERAL
                                               : ZOO_EPHEMERAL | ZOO_SEQUENCE;
  std::string made;
  const int rc = Perform(options_.request_timeout, made, [&](const void* held) {
    return zoo_acreate(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), acl,
                       flags, &OnString, held);
  });
  if (rc != ZOK) return MakeError("create", path, rc, Effect::kWrite);
  return made;
}

Status Session::Delete(const std::string& path) {
  Nothing nothing;
  const int rc = Perform(options_.request_timeout, nothing, [&](const void* held) {
    return zoo_adelete(handle_, path.c_str(), -1, &OnVoid, held);
  });
  if (rc != ZOK) return MakeError("delete", path, rc, Effect::kWrite);
  return {};
}

Result<Node> Session::Get(const std::string& path, bool watch) {
  Node node;
  const int rc = Perform(options_.request_timeout, node, [&](const void* held) {
    return zoo_aget(handle_, path.c_str(), watch ? 1 : 0, &OnNode, held);
  });
  if (rc != ZOK) return MakeError("get", path, rc, Effect::kRead);
  return node;
}

Result<std::vector<std::string>> Session::Children(const std::string& path, bool watch) {
  std::vector<std::string> names;
  const int rc = Perform(options_.request_timeout, names, [&](const void* held) {
    return zoo_aget_children(handle_, path.c_str(), watch ? 1 : 0, &OnChildren, held);
  });
  if (rc != ZOK) return MakeError("list", path, rc, Effect::kRead);
  return names;
}

Status Session::Sync(const std::string& path) {
  std::string ignored;
  const int rc = Perform(options_.request_timeout, ignored, [&](const void* held) {
    return zoo_async(handle_, path.c_str(), &OnString, held);
  });
  if (rc != ZOK) return MakeError("sync", path, rc, Effect::kRead);
  return {};
}

Status Session::Commit(const std::vector<Op>& ops, Duration limit, int* failed) {
  *failed = -1;
  std::vector<zoo_op_t> made;
  for (const Op& op : ops) {
    if (op.data.size() >= kDataBytesMax) {
      return {ErrorCode::kInvalid, "zookeeper: set " + op.path + ": larger than a node may be"};
    }
    made.push_back(ToOp(op));
  }
  const auto call = std::make_shared<Call<int>>();
  auto held = std::make_unique<TransactionCall>(
      TransactionCall{.call = call, .results = std::vector<zoo_op_result_t>(ops.size())});
  const int sent = zoo_amulti(handle_, static_cast<int>(made.size()), made.data(),
                              held->results.data(), &OnCommit, held.get());
  if (sent != ZOK) return MakeError("commit", ops.front().path, sent, Effect::kWrite);
  static_cast<void>(held.release());  // now owned by the completion
  const int rc = call->Await(limit, *failed);
  if (rc != ZOK) return MakeError("commit", ops.front().path, rc, Effect::kWrite);
  return {};
}

}  // namespace carillon::zookeeper
