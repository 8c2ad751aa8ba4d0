#include "common/adapters/http/http_server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "common/adapters/http/connections.h"
#include "common/adapters/http/forwarded_for.h"
#include "common/adapters/http/http_include.h"
#include "common/adapters/http/http_target.h"
#include "common/base/log.h"
#include "common/base/loops/worker_pool.h"
#include "common/base/lower_case.h"

namespace carillon {
namespace {

namespace limits = restinio::connection_count_limits;

using http::LifetimeMonitor;
using http::Limiter;
using RequestHandle = restinio::request_handle_t;

// Pause of the accept loop after an error such as "no more descriptors".
constexpr std::chrono::milliseconds kAcceptRetry{50};
constexpr Duration kRefusalEvery = 1min;
void DropControls(std::string& value) {
  for (char& c : value) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) c = '_';
  }
}

std::string HeaderText(const HttpResponse& response, bool keep_alive, WallTime now) {
  const bool has_body = !response.stream && response.status >= 200 && response.status != 204 &&
                        response.status != 304;
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nConnection: {}\r\nDate: {}\r\n", response.status,
                  ReasonPhrase(response.status), keep_alive ? "keep-alive" : "close",
                  restinio::make_date_field_value(
                      std::chrono::system_clock::time_point(now.time_since_epoch())));
  if (has_body) text += fmt::format("Content-Length: {}\r\n", response.body.size());
  for (const auto& [raw_name, raw_value] : response.headers) {
    std::string name = raw_name;
    std::string value = raw_value;
    DropControls(name);
    DropControls(value);
    text += fmt::format("{}: {}\r\n", name, value);
  }
  return text + "\r\n";
}

using ConnectionHandle = restinio::impl::connection_handle_t;

// Counts the requests without a complete response. Shared with the streams, which may end late.
class InProgress {
 public:
  void Begin() {
    const std::lock_guard lock(mu_);
    ++count_;
  }
  void End() {
    const std::lock_guard lock(mu_);
    if (--count_ == 0) idle_.notify_all();
  }
  void AwaitNone(Duration limit) {
    std::unique_lock lock(mu_);
    idle_.wait_for(lock, limit, [this] { return count_ == 0; });
  }

 private:
  std::mutex mu_;
  std::condition_variable idle_;
  size_t count_ = 0;  // guarded by mu_
};

// The rest of a response whose head was sent. The connection is closed after it.
class Stream final : public HttpStream {
 public:
  Stream(ConnectionHandle connection, restinio::request_id_t request,
         std::shared_ptr<InProgress> in_progress)
      : connection_(std::move(connection)),
        request_(request),
        state_(std::make_shared<State>(std::move(in_progress))) {}
  ~Stream() override { Close(); }

  bool Write(std::string bytes) override {
    if (state_->closed) return false;
    if (!bytes.empty()) Send(std::move(bytes), false);
    return true;
  }
  size_t unsent() const override { return state_->unsent; }
  bool closed() const override { return state_->closed; }
  void Close() override {
    if (!state_->closed.exchange(true)) Send({}, true);
  }

 private:
  // RESTinio's callbacks hold this state instead of the stream. The stream holds the connection,
  // and the connection holds the callbacks. So callbacks that hold the stream would form a cycle.
  struct State {
    explicit State(std::shared_ptr<InProgress> requests) : in_progress(std::move(requests)) {}
    ~State() { in_progress->End(); }
    const std::shared_ptr<InProgress> in_progress;
    std::atomic<size_t> unsent{0};
    std::atomic<bool> closed{false};
  };

  void Send(std::string bytes, bool last) {
    const size_t size = bytes.size();
    state_->unsent += size;
    restinio::writable_items_container_t items;
    if (size > 0) items.emplace_back(std::move(bytes));
    restinio::write_group_t group(std::move(items));
    group.after_write_notificator([state = state_, size](const auto& error) {
      state->unsent -= size;
      if (error) state->closed = true;
    });
    using Part = restinio::response_parts_attr_t;
    using Then = restinio::response_connection_attr_t;
    connection_->write_response_parts(
        request_,
        restinio::response_output_flags_t{
            last ? Part::final_parts : Part::not_final_parts,
            last ? Then::connection_close : Then::connection_keepalive},
        std::move(group));
  }

  const ConnectionHandle connection_;
  const restinio::request_id_t request_;
  const std::shared_ptr<State> state_;
};

std::string AddressText(const restinio::endpoint_t& endpoint) {
  const auto address = endpoint.address();
  return address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
}

// Finds the defects for which RFC 9112 tells servers to reject a request. A proxy in front of this
// server may have interpreted such a request differently.
HttpDefect DefectOfHead(const HttpRequest& request, const restinio::http_request_header_t& header) {
  const size_t hosts = request.CountHeader("host");
  if (hosts > 1 || (hosts == 0 && header.http_minor() >= 1)) return HttpDefect::kBadHost;
  const size_t codings = request.CountHeader("transfer-encoding");
  const bool chunked = codings == 1 && LowerCase(*request.Header("transfer-encoding")) == "chunked";
  return codings == 0 || chunked ? HttpDefect::kNone : HttpDefect::kUnknownCoding;
}

bool IsLargeBodyPath(const HttpRequest& request, const HttpServerOptions& options) {
  const auto& below = options.large_bodies_below;
  return !below.empty() && request.segments.size() > below.size() &&
         std::equal(below.begin(), below.end(), request.segments.begin());
}

HttpRequest ConvertRequest(const restinio::request_t& source, const HttpServerOptions& options) {
  HttpRequest request;
  const auto& header = source.header();
  request.method = header.method().c_str();
  request.target = header.request_target();
  header.for_each_field([&](const auto& field) {
    request.headers.emplace_back(LowerCase(field.name()), field.value());
  });
  const std::string peer = AddressText(source.remote_endpoint());
  const std::string client = http::ClientOf(peer, request.headers, options.trusted_proxies);
  const int port = client == peer ? source.remote_endpoint().port() : 0;
  request.peer = fmt::format("{}:{}", client, port);
  if (request.target.size() > options.target_bytes_max) {
    request.defect = HttpDefect::kTargetTooLong;
  } else if (auto target = ParseHttpTarget(request.target); target.ok()) {
    request.segments = std::move(target->segments);
    request.query = std::move(target->query);
  } else {
    request.defect = HttpDefect::kBadTarget;
  }
  if (source.body().size() <= options.body_bytes_max || IsLargeBodyPath(request, options)) {
    request.body = source.body();
  } else if (request.defect == HttpDefect::kNone) {
    request.defect = HttpDefect::kBodyTooLarge;
  }
  // The parser accepts "Content-Length :" as a length. A proxy in front of this server may ignore
  // such a header, and take the body for another client's request.
  const bool names = std::all_of(request.headers.begin(), request.headers.end(),
                                 [](const auto& field) { return IsHeaderName(field.first); });
  if (!names) request.defect = HttpDefect::kBadHeader;
  if (const auto defect = DefectOfHead(request, header); defect != HttpDefect::kNone) {
    request.defect = defect;
  }
  return request;
}

// Replaces RESTinio's acceptor, but uses RESTinio's connections. That acceptor has two defects:
// - It stops for good after one failed accept, for example when there are no free descriptors.
// - If a peer disconnects early, its connection is counted forever.
class Server final : public HttpServer, private limits::impl::acceptor_callback_iface_t {
 public:
  Server(const HttpServerOptions& options, HttpHandler& handler, const Clock& clock,
         std::unique_ptr<TlsCertificate> certificate)
      : options_(options),
        certificate_(std::move(certificate)),
        handler_(handler),
        clock_(clock),
        limiter_(this, limits::max_parallel_connections_t{options.connections_max},
                 limits::max_active_accepts_t{1}),
        places_(options.address_connections_max),
        acceptor_(io_),
        incoming_(io_),
        retry_timer_(io_),
        work_(asio::make_work_guard(io_)),
        pool_({.threads = options.workers, .queue_max = options.queue_max}),
        urgent_pool_({.threads = options.urgent_workers, .queue_max = options.queue_max}) {}

  ~Server() override { Stop(); }

  Status Listen() {
    try {
      Open();
    } catch (const std::exception& error) {
      return {ErrorCode::kUnavailable, fmt::format("{}: listen on {} port {}: {}", options_.name,
                                                   options_.address, options_.port, error.what())};
    }
    for (size_t i = 0; i < options_.io_threads; ++i) {
      io_threads_.emplace_back([this] { io_.run(); });
    }
    asio::post(io_, [this] { limiter_.accept_next(0); });
    return {};
  }

  uint16_t port() const override { return port_; }

  std::string url() const override {
    const auto address = endpoint_.address();
    std::string host = options_.advertise;
    if (host.empty())
      host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
    return fmt::format("{}://{}:{}", certificate_ ? "https" : "http", host, port_);
  }

  Status ReloadCertificate() override { return certificate_ ? certificate_->Reload() : Status(); }
  std::optional<WallTime> CertificateUntil() const override {
    return certificate_ ? std::optional(certificate_->until()) : std::nullopt;
  }

  void Stop() override {
    if (stopping_.exchange(true)) return;
    asio::post(io_, [this] {
      std::error_code ignored;
      acceptor_.close(ignored);
      retry_timer_.cancel();
    });
    // Waits for requests in progress first. Stops io_ last, because io_ writes the responses.
    in_progress_->AwaitNone(options_.stop_grace);
    pool_.Stop();
    urgent_pool_.Stop();
    work_.reset();
    io_.stop();
    for (std::thread& thread : io_threads_) thread.join();
    // io_ may have stopped before it ran the posted close.
    std::error_code ignored;
    acceptor_.close(ignored);
  }

  void SetEndpoint(const asio::ip::address& address) {
    endpoint_ = restinio::endpoint_t(address, options_.port);
  }

 private:
  void Open() {
    acceptor_.open(endpoint_.protocol());
    acceptor_.set_option(asio::ip::tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint_);
    acceptor_.listen(asio::socket_base::max_listen_connections);
    port_ = acceptor_.local_endpoint().port();
    connections_ = MakeConnections();
  }

  std::unique_ptr<http::Connections> MakeConnections() {
    http::RequestHandler accept = [this](const RequestHandle& request) { return Accept(request); };
    if (!certificate_) return http::PlainConnections(io_, options_, std::move(accept));
    return http::TlsConnections(io_, options_, std::move(accept), *certificate_);
  }

  // ---- accepting: I/O threads, one accept at a time ----

  void call_accept_now(size_t /*index*/) noexcept override {
    incoming_ = asio::ip::tcp::socket(io_);
    acceptor_.async_accept(incoming_, [this](const std::error_code& error) noexcept {
      // Counts the connection from here on, until the monitor is destroyed.
      LifetimeMonitor monitor(&limiter_);
      if (stopping_) return;
      if (error) {
        log::Warn("http", "{}: accept failed: {}", options_.name, error.message());
        retry_timer_.expires_after(kAcceptRetry);
        retry_timer_.async_wait([this](const std::error_code& cancelled) {
          if (!cancelled && !stopping_) limiter_.accept_next(0);
        });
        return;
      }
      TakeConnection(std::move(monitor));
      limiter_.accept_next(0);
    });
  }

  void schedule_next_accept_attempt(size_t index) noexcept override {
    if (stopping_) return;
    asio::post(io_, [this, index] { limiter_.accept_next(index); });
  }

  void TakeConnection(LifetimeMonitor monitor) noexcept {
    try {
      std::error_code gone;
      const auto peer = incoming_.remote_endpoint(gone);
      if (gone) return;
      const std::string address = AddressText(peer);
      auto place = http::IsAnyOf(options_.trusted_proxies, address) ? places_.OfProxy()
                                                                    : places_.Take(address);
      if (!place) return Refuse(peer);
      connections_->Take({.socket = std::move(incoming_),
                          .peer = peer,
                          .monitor = std::move(monitor),
                          .place = std::move(place)});
    } catch (const std::exception& error) {
      log::Warn("http", "{}: connection dropped: {}", options_.name, error.what());
    }
  }

  // Logs at most once per kRefusalEvery: a client that keeps reconnecting must not fill the log.
  void Refuse(const restinio::endpoint_t& peer) {
    std::error_code ignored;
    incoming_.close(ignored);
    ++refused_;
    const SteadyTime now = clock_.Steady();
    if (refusal_logged_at_ && now - *refusal_logged_at_ < kRefusalEvery) return;
    log::Warn("http",
              "{}: {} connections refused: {} has {} already, the most of one address; of a proxy "
              "see rest.trusted_proxies",
              options_.name, std::exchange(refused_, 0), AddressText(peer),
              options_.address_connections_max);
    refusal_logged_at_ = now;
  }

  // ---- requests ----

  restinio::request_handling_status_t Accept(const RequestHandle& handle) {
    in_progress_->Begin();
    auto request = std::make_shared<HttpRequest>(ConvertRequest(*handle, options_));
    const SteadyTime received = clock_.Steady();
    WorkerPool& pool = handler_.Urgent(*request) ? urgent_pool_ : pool_;
    const bool taken = !stopping_ && pool.TryPost([this, handle, request, received] {
      const bool late = clock_.Steady() - received > options_.queue_wait_max;
      Respond(*handle, *request, late ? handler_.Overloaded(*request) : RunHandler(*request));
    });
    if (!taken) Respond(*handle, *request, handler_.Overloaded(*request));
    return restinio::request_accepted();
  }

  HttpResponse RunHandler(const HttpRequest& request) {
    try {
      return handler_.Handle(request);
    } catch (const std::exception& error) {
      log::Error("http", "{}: {} {}: {}", options_.name, request.method, request.target,
                 error.what());
      return {.status = 500};
    }
  }

  void Respond(restinio::request_t& handle, const HttpRequest& request, HttpResponse response) {
    if (response.stream) return RespondInParts(handle, request, response);
    const bool keep_alive =
        handle.header().should_keep_alive() && !stopping_ && !EndsConnection(request.defect);
    restinio::writable_items_container_t items;
    items.emplace_back(HeaderText(response, keep_alive, clock_.Wall()));
    const bool has_body = request.method != "HEAD" && response.status != 204 &&
                          response.status != 304 && !response.body.empty();
    if (has_body) items.emplace_back(std::move(response.body));
    restinio::write_group_t group(std::move(items));
    // Called after the write, and also if the connection ended before the write.
    group.after_write_notificator([requests = in_progress_](const auto&) { requests->End(); });
    auto connection = std::move(restinio::impl::access_req_connection(handle));
    connection->write_response_parts(
        handle.request_id(),
        restinio::response_output_flags_t{
            restinio::response_parts_attr_t::final_parts,
            keep_alive ? restinio::response_connection_attr_t::connection_keepalive
                       : restinio::response_connection_attr_t::connection_close},
        std::move(group));
  }

  // Runs on a worker.
  void RespondInParts(restinio::request_t& handle, const HttpRequest& request,
                      const HttpResponse& response) {
    const auto connection = std::move(restinio::impl::access_req_connection(handle));
    const auto stream = std::make_shared<Stream>(connection, handle.request_id(), in_progress_);
    stream->Write(HeaderText(response, false, clock_.Wall()) + response.body);
    if (request.method == "HEAD" || stopping_) return;
    try {
      response.stream(stream);
    } catch (const std::exception& error) {
      log::Error("http", "{}: {} {}: {}", options_.name, request.method, request.target,
                 error.what());
    }
  }

  const HttpServerOptions options_;
  const std::unique_ptr<TlsCertificate> certificate_;  // null: no TLS
  HttpHandler& handler_;
  const Clock& clock_;
  restinio::endpoint_t endpoint_;
  uint16_t port_ = 0;
  size_t refused_ = 0;  // refusals since refusal_logged_at_; used by the accept loop
  std::optional<SteadyTime> refusal_logged_at_;  // used by the accept loop
  std::atomic<bool> stopping_{false};

  const std::shared_ptr<InProgress> in_progress_ = std::make_shared<InProgress>();

  // Declared in this order, because connections that io_ destroys still use limiter_.
  Limiter limiter_;
  AddressPlaces places_;
  std::unique_ptr<http::Connections> connections_;
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  asio::ip::tcp::socket incoming_;
  asio::steady_timer retry_timer_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  WorkerPool pool_;
  WorkerPool urgent_pool_;
  std::vector<std::thread> io_threads_;
};

Result<asio::ip::address> ParseAddress(const HttpServerOptions& options) {
  const std::string text = options.address == "localhost" ? "127.0.0.1" : options.address;
  std::error_code error;
  const auto address = asio::ip::make_address(text, error);
  if (error) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: '{}' is not an IP address", options.name, options.address)};
  }
  if (!address.is_loopback() && !options.allow_beyond_loopback && options.tls.empty()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: refusing to listen on {} without TLS: it is beyond loopback, "
                             "and allow_beyond_loopback is off",
                             options.name, options.address)};
  }
  return address;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options,
                                                      HttpHandler& handler, const Clock& clock) {
  CARILLON_ASSIGN_OR_RETURN(const asio::ip::address address, ParseAddress(options));
  std::unique_ptr<TlsCertificate> certificate;
  if (!options.tls.empty()) {
    CARILLON_ASSIGN_OR_RETURN(certificate, TlsCertificate::Load(options.tls, clock));
  }
  auto server = std::make_unique<Server>(options, handler, clock, std::move(certificate));
  server->SetEndpoint(address);
  CARILLON_TRY(server->Listen());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace carillon
