// The HTTP server with clients that are fast, slow, faulty or gone.
#include "common/adapters/http/http_server.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/process_wait.h"
#include "tests/unit/common/adapters/http/echo_server.h"
#include "tests/unit/common/adapters/http/raw_socket.h"

namespace carillon::test {
namespace {

std::string Ask(EchoServer& server, const std::string& request) {
  RawSocket socket(server.port());
  EXPECT_TRUE(socket.Send(request));
  return socket.ReadAnswer();
}

std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

// Expects that the connection is closed without an answer.
void ExpectClosed(EchoServer& server, const std::string& request) {
  RawSocket socket(server.port());
  socket.Send(request);
  EXPECT_EQ(socket.ReadToEnd(), "") << request.substr(0, 60);
  EXPECT_TRUE(socket.closed()) << request.substr(0, 60);
}

TEST(HttpServerTest, DecodesPathQueryAndBody) {
  EchoServer server;
  EXPECT_EQ(BodyOf(Ask(server,
                       "POST /a%20b/c%2Fd?x=1+2&y=%C3%A9&z HTTP/1.1\r\nHost: x\r\n"
                       "Content-Length: 3\r\n\r\nabc")),
            "POST|a b|c/d?x=1 2?y=\xc3\xa9?z=|abc");
}

TEST(HttpServerTest, NameWithASpaceEndsTheConnectionAndWhatFollowsIsNotServed) {
  EchoServer server;
  for (const std::string length : {"Content-Length : 3", "Content-Length\t: 3"}) {
    RawSocket socket(server.port());
    socket.Send("POST /a HTTP/1.1\r\nHost: x\r\n" + length +
                "\r\n\r\nabcGET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string all = socket.ReadToEnd();
    EXPECT_EQ(all.find("GET|b"), std::string::npos) << length << all;
    EXPECT_TRUE(all.empty() || BodyOf(all) == "bad header") << length << all;
    EXPECT_TRUE(socket.closed()) << length;
  }
}

TEST(HttpServerTest, WhatOthersMayUnderstandDifferentlyEndsTheConnection) {
  EchoServer server;
  const std::string next = "GET /b HTTP/1.1\r\nHost: x\r\n\r\n";
  const auto expect = [&](const std::string& request, const std::string& defect) {
    RawSocket socket(server.port());
    socket.Send(request + next);
    const std::string all = socket.ReadToEnd();
    EXPECT_EQ(BodyOf(all), defect) << request;
    EXPECT_TRUE(socket.closed()) << request;
  };
  expect("GET /a HTTP/1.1\r\n\r\n", "bad host");
  expect("GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "bad host");
  for (const std::string coding : {"gzip, chunked", "identity, chunked"}) {
    expect("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + coding +
               "\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
           "unknown coding");
  }
}

TEST(HttpServerTest, KeepsConnectionsAndAnswersPipelinedRequestsInOrder) {
  EchoServer server;
  RawSocket socket(server.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  ASSERT_TRUE(socket.Send(requests));
  for (int i = 0; i < 50; ++i) {
    const std::string answer = socket.ReadAnswer();
    EXPECT_EQ(BodyOf(answer), "GET|" + std::to_string(i) + "|");
    EXPECT_NE(answer.find("Connection: keep-alive"), std::string::npos);
  }
}

TEST(HttpServerTest, ClosesWhenAskedAndForOldClients) {
  EchoServer server;
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawSocket socket(server.port());
    ASSERT_TRUE(socket.Send(request));
    EXPECT_NE(socket.ReadToEnd().find("Connection: close"), std::string::npos);
    EXPECT_TRUE(socket.closed());
  }
}

TEST(HttpServerTest, ReadsChunkedBodies) {
  EchoServer server;
  EXPECT_EQ(BodyOf(Ask(server,
                       "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nTrailer: x\r\n\r\n")),
            "POST||abcde");
}

std::vector<std::unique_ptr<RawSocket>> BeginSlowRequests(EchoServer& server) {
  std::vector<std::unique_ptr<RawSocket>> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<RawSocket>(server.port()));
    EXPECT_TRUE(slow.back()->Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Le"));
  }
  return slow;
}

TEST(HttpServerTest, SlowRequestsHoldUpNobody) {
  EchoServer server({.read_timeout = 1h});
  const auto slow = BeginSlowRequests(server);
  EXPECT_EQ(BodyOf(Ask(server, "GET /quick HTTP/1.1\r\nHost: x\r\n\r\n")), "GET|quick|");
}

TEST(HttpServerTest, ASlowRequestIsClosed) {
  EchoServer server({.read_timeout = 200ms});
  for (const auto& socket : BeginSlowRequests(server)) {
    EXPECT_EQ(socket->ReadToEnd(), "");
    EXPECT_TRUE(socket->closed());
  }
}

TEST(HttpServerTest, ADrippedBodyDoesNotExtendTheDeadline) {
  EchoServer server({.read_timeout = 400ms});
  RawSocket socket(server.port());
  ASSERT_TRUE(socket.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"));
  int sent = 0;
  // Sends one byte at a time with pauses: the whole request would take far longer than
  // the deadline.
  while (sent < 1000 && !socket.closed()) {
    socket.Send("x");
    ++sent;
    EXPECT_EQ(socket.ReadUntil("\r\n", 1, 20), "");
  }
  EXPECT_LT(sent, 1000);
}

TEST(HttpServerTest, OnePathMayHaveBodiesUpToTheHardLimit) {
  EchoServer server({.large_bodies_below = {"api", "imports"}});
  const auto sizes = [&server](const std::string& target, size_t bytes) {
    return BodyOf(Ask(server, "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                                  std::to_string(bytes) + "\r\n\r\n" + std::string(bytes, 'x')))
        .size();
  };
  const size_t refused = std::string("body too large").size();
  EXPECT_GT(sizes("/api/imports/crontab", 8u << 20), 8u << 20);
  for (const char* other : {"/api/imports", "/api/apply", "/imports/api/x", "/x/api/imports/y"}) {
    EXPECT_EQ(sizes(other, (1u << 20) + 1), refused) << other;
  }
}

TEST(HttpServerTest, BodiesOverTheSoftLimitReachTheHandlerEmptyOverTheHardLimitTheyAreCut) {
  EchoServer server;
  const auto post = [](size_t bytes) {
    return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
           std::string(bytes, 'x');
  };
  EXPECT_EQ(BodyOf(Ask(server, post(1u << 20))).size(), (1u << 20) + 6);
  EXPECT_EQ(BodyOf(Ask(server, post((1u << 20) + 1))), "body too large");
  EXPECT_EQ(BodyOf(Ask(server, post(8u << 20))), "body too large");
  ExpectClosed(server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8388609\r\n\r\n");
  ExpectClosed(server,
               "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n");
  std::string chunks = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 9; ++i) chunks += "100000\r\n" + std::string(0x100000, 'x') + "\r\n";
  RawSocket socket(server.port());
  socket.Send(chunks);
  EXPECT_EQ(socket.ReadToEnd(), "");
}

TEST(HttpServerTest, HeadersAndTargetsAreBounded) {
  EchoServer server;
  EXPECT_EQ(BodyOf(Ask(server, "GET /" + std::string(8191, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n")),
            "GET|" + std::string(8191, 'x') + "|");
  EXPECT_EQ(BodyOf(Ask(server, "GET /" + std::string(8192, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n")),
            "target too long");
  ExpectClosed(server, "GET /" + std::string(40'000, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n");
  ExpectClosed(server, "GET / HTTP/1.1\r\nX: " + std::string(17'000, 'x') + "\r\n\r\n");
  ExpectClosed(server, "GET / HTTP/1.1\r\n" + std::string(300, 'x') + ": 1\r\n\r\n");
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 101; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  ExpectClosed(server, many + "\r\n");
}

TEST(HttpServerTest, WhatIsNotHttpIsClosed) {
  EchoServer server;
  for (const char* request :
       {"hello\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\x00\x01", "NOSUCH / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    ExpectClosed(server, request);
  }
  EXPECT_EQ(BodyOf(Ask(server, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n")), "GET|x|");
}

TEST(HttpServerTest, AnUpgradeRequestIsAnsweredAsUsual) {
  EchoServer server;
  const std::string answer = Ask(server,
                                 "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                                 "Upgrade: websocket\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK")) << answer;
  EXPECT_EQ(BodyOf(answer), "GET|ws|");
}

TEST(HttpServerTest, AHandlersValuesCannotInjectHeaders) {
  EchoServer server({}, [](const HttpRequest&) {
    return HttpResponse{.status = 200,
                        .headers = {{"Location", "/x\r\nX-Evil: 1"}, {"A\r\nX-Evil2", "b"}},
                        .body = "ok"};
  });
  const std::string answer = Ask(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(answer.find("\nX-Evil"), std::string::npos) << answer;
  EXPECT_NE(answer.find("Location: /x__X-Evil: 1\r\n"), std::string::npos) << answer;
}

TEST(HttpServerTest, AnExceptionOfTheHandlerIsA500) {
  EchoServer server({}, [](const HttpRequest& request) -> HttpResponse {
    if (request.segments[0] == "bad") throw std::runtime_error("boom");
    return {.status = 200};
  });
  EXPECT_TRUE(Ask(server, "GET /bad HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 500"));
  EXPECT_TRUE(Ask(server, "GET /good HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 200"));
}

TEST(HttpServerTest, StatusesWithoutABodyHaveNone) {
  EchoServer server({}, [](const HttpRequest& request) {
    return HttpResponse{.status = std::stoi(request.segments[0]), .body = "ignored"};
  });
  for (const char* status : {"204", "304"}) {
    RawSocket socket(server.port());
    ASSERT_TRUE(socket.Send(std::string("GET /") + status +
                            " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    const std::string answer = socket.ReadToEnd();
    EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
    EXPECT_EQ(answer.find("Content-Length"), std::string::npos) << answer;
  }
}

TEST(HttpServerTest, MoreConnectionsThanAllowedWaitForTheirTurn) {
  EchoServer server({.connections_max = 2, .read_timeout = 1h});
  auto first = std::make_unique<RawSocket>(server.port());
  RawSocket second(server.port());
  const std::string request = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_TRUE(first->Send(request));
  ASSERT_TRUE(second.Send(request));
  EXPECT_EQ(BodyOf(first->ReadAnswer()), "GET|x|");
  EXPECT_EQ(BodyOf(second.ReadAnswer()), "GET|x|");
  RawSocket third(server.port());
  ASSERT_TRUE(third.Send(request));
  EXPECT_EQ(third.ReadAnswer(100), "");
  first->Close();
  EXPECT_EQ(BodyOf(third.ReadAnswer()), "GET|x|");
}

TEST(HttpServerTest, ClientsThatVanishLeaveNoConnectionBehind) {
  EchoServer server({.connections_max = 4});
  for (int i = 0; i < 200; ++i) {
    RawSocket socket(server.port());
    if (i % 2 == 0) socket.Send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    socket.Reset();
  }
  EXPECT_EQ(BodyOf(Ask(server, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n")), "GET|x|");
}

// While this object exists, the process can open only one more descriptor.
class OneMoreDescriptor {
 public:
  OneMoreDescriptor() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int lowest_free = fcntl(0, F_DUPFD_CLOEXEC, 0);
    EXPECT_GE(lowest_free, 0);
    close(lowest_free);
    rlimit tight = before_;
    tight.rlim_cur = static_cast<rlim_t>(lowest_free) + 1;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  }
  ~OneMoreDescriptor() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

TEST(HttpServerTest, ItAcceptsAgainAfterDescriptorsRanOut) {
  EchoServer server({.read_timeout = 1h});
  // Each accept takes a descriptor for a moment, even if no client waits. After this answer the
  // server waits in an accept and keeps the connection, so that no descriptor becomes free.
  RawSocket first(server.port());
  const std::string request = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_TRUE(first.Send(request));
  ASSERT_EQ(BodyOf(first.ReadAnswer()), "GET|x|");
  auto limit = std::make_unique<OneMoreDescriptor>();
  RawSocket client(server.port());  // takes the last descriptor
  ASSERT_TRUE(client.connected());
  ASSERT_TRUE(client.Send(request));
  EXPECT_EQ(client.ReadAnswer(150), "");
  limit.reset();
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "GET|x|");
  EXPECT_EQ(BodyOf(Ask(server, "GET /y HTTP/1.1\r\nHost: x\r\n\r\n")), "GET|y|");
}

TEST(HttpServerTest, StopLetsRequestsInProgressEnd) {
  std::mutex mu;
  std::condition_variable changed;
  bool inside = false;
  bool go = false;
  EchoServer server({.stop_grace = 1min}, [&](const HttpRequest&) {
    std::unique_lock lock(mu);
    inside = true;
    changed.notify_all();
    changed.wait(lock, [&] { return go; });
    return HttpResponse{.status = 200, .body = "done"};
  });
  RawSocket socket(server.port());
  ASSERT_TRUE(socket.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  {
    std::unique_lock lock(mu);
    ASSERT_TRUE(changed.wait_for(lock, 120s, [&] { return inside; }));
  }
  std::thread stopper([&] { server.server().Stop(); });
  {
    const std::lock_guard lock(mu);
    go = true;
  }
  changed.notify_all();
  EXPECT_EQ(BodyOf(socket.ReadAnswer()), "done");
  stopper.join();
  EXPECT_FALSE(RawSocket(server.port()).connected());
  server.server().Stop();  // idempotent
}

class NoHandler : public HttpHandler {
  HttpResponse Handle(const HttpRequest&) override { return {}; }
  HttpResponse Overloaded(const HttpRequest&) override { return {}; }
};

TEST(HttpServerTest, RefusesAddressesBeyondLoopbackWithoutLeave) {
  const SystemClock clock;
  NoHandler handler;
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "localhost.example", ""}) {
    const auto started = HttpServer::Start({.address = address}, handler, clock);
    ASSERT_FALSE(started.ok()) << address;
    EXPECT_EQ(started.code(), ErrorCode::kInvalid) << address;
  }
  for (const char* address : {"127.0.0.1", "127.0.0.2", "localhost"}) {
    EXPECT_TRUE(HttpServer::Start({.address = address}, handler, clock).ok()) << address;
  }
  EXPECT_TRUE(
      HttpServer::Start({.address = "0.0.0.0", .allow_beyond_loopback = true}, handler, clock)
          .ok());
}

TEST(HttpServerTest, ATakenPortIsUnavailable) {
  const SystemClock clock;
  NoHandler handler;
  const auto first = HttpServer::Start({}, handler, clock);
  ASSERT_TRUE(first.ok());
  const auto second = HttpServer::Start({.port = (*first)->port()}, handler, clock);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.code(), ErrorCode::kUnavailable);
  EXPECT_EQ((*first)->url(), "http://127.0.0.1:" + std::to_string((*first)->port()));
}

// A server with streamed answers, whose streams the test keeps.
struct StreamingServer {
  EchoServer server{{}, [this](const HttpRequest&) {
                      HttpResponse response{.status = 200, .body = "begin\n"};
                      response.headers = {{"Content-Type", "text/event-stream"}};
                      response.stream = [this](std::shared_ptr<HttpStream> stream) {
                        const std::lock_guard lock(mu);
                        streams.push_back(std::move(stream));
                        opened.notify_all();
                      };
                      return response;
                    }};
  std::shared_ptr<HttpStream> Wait(size_t number = 0) {
    std::unique_lock lock(mu);
    EXPECT_TRUE(opened.wait_for(lock, 120s, [&] { return streams.size() > number; }));
    return streams.at(number);
  }
  ~StreamingServer() {
    const std::lock_guard lock(mu);
    streams.clear();
  }
  std::mutex mu;
  std::condition_variable opened;
  std::vector<std::shared_ptr<HttpStream>> streams;
};

constexpr char kGet[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(HttpServerTest, AnswerGoesOnUntilItIsClosed) {
  StreamingServer streaming;
  RawSocket socket(streaming.server.port());
  ASSERT_TRUE(socket.Send(kGet));
  const std::string head = socket.ReadUntil("begin\n");
  EXPECT_NE(head.find("HTTP/1.1 200 OK"), std::string::npos);
  EXPECT_NE(head.find("Connection: close"), std::string::npos);
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);
  const auto stream = streaming.Wait();
  EXPECT_TRUE(stream->Write("one\n"));
  EXPECT_EQ(socket.ReadUntil("one\n"), "one\n");
  EXPECT_TRUE(stream->Write("two\n"));
  stream->Close();
  EXPECT_EQ(socket.ReadToEnd(), "two\n");
  EXPECT_TRUE(socket.closed());
  EXPECT_TRUE(stream->closed());
  EXPECT_FALSE(stream->Write("three\n"));
}

TEST(HttpServerTest, AnswerThatNobodyHoldsAnyMoreEnds) {
  StreamingServer streaming;
  RawSocket socket(streaming.server.port());
  ASSERT_TRUE(socket.Send(kGet));
  streaming.Wait();
  {
    const std::lock_guard lock(streaming.mu);
    streaming.streams.clear();
  }
  EXPECT_TRUE(socket.ReadToEnd().ends_with("begin\n"));
}

TEST(HttpServerTest, WriterLearnsThatTheListenerIsGone) {
  StreamingServer streaming;
  {
    RawSocket socket(streaming.server.port());
    ASSERT_TRUE(socket.Send(kGet));
    streaming.Wait();
    socket.ReadUntil("begin\n");
  }
  const auto stream = streaming.Wait();
  EXPECT_TRUE(WaitUntil([&] {
    stream->Write("anybody?\n");
    return stream->closed();
  }));
  EXPECT_TRUE(WaitUntil([&] { return stream->unsent() == 0; }));
}

TEST(HttpServerTest, ListenerWhoDoesNotReadIsSeenAndDropped) {
  HttpServerOptions options;
  options.write_timeout = 200ms;
  std::shared_ptr<HttpStream> held;
  std::mutex mu;
  EchoServer server(options, [&](const HttpRequest&) {
    HttpResponse response{.status = 200};
    response.stream = [&](std::shared_ptr<HttpStream> stream) {
      const std::lock_guard lock(mu);
      held = std::move(stream);
    };
    return response;
  });
  const auto stream = [&] {
    const std::lock_guard lock(mu);
    return held;
  };
  RawSocket socket(server.port());
  ASSERT_TRUE(socket.Send(kGet));
  ASSERT_TRUE(WaitUntil([&] { return stream() != nullptr; }));
  EXPECT_TRUE(stream()->Write(std::string(64u << 20, 'x')));
  EXPECT_GT(stream()->unsent(), 0u);
  EXPECT_TRUE(WaitUntil([&] { return stream()->closed(); }));
  const std::lock_guard lock(mu);
  held.reset();
}

TEST(HttpServerTest, HeadOfAnAnswerThatGoesOnEnds) {
  StreamingServer streaming;
  RawSocket socket(streaming.server.port());
  ASSERT_TRUE(socket.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_TRUE(socket.ReadToEnd().starts_with("HTTP/1.1 200 OK"));
  EXPECT_TRUE(streaming.streams.empty());
}

TEST(HttpServerTest, StopsWhileSomebodyListens) {
  auto streaming = std::make_unique<StreamingServer>();
  RawSocket socket(streaming->server.port());
  ASSERT_TRUE(socket.Send(kGet));
  streaming->Wait()->Write("last\n");
  streaming->Wait()->Close();
  streaming->server.server().Stop();
  EXPECT_TRUE(socket.ReadToEnd().ends_with("last\n"));
}

}  // namespace
}  // namespace carillon::test
