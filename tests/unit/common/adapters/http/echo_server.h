// An HttpServer whose handler is a function that the test provides.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/adapters/http/http_server.h"
#include "common/adapters/system/system_clock.h"

namespace carillon::test {

class EchoServer : public HttpHandler {
 public:
  using Function = std::function<HttpResponse(const HttpRequest&)>;

  explicit EchoServer(const HttpServerOptions& options = {}, Function function = &Echo)
      : function_(std::move(function)) {
    auto started = HttpServer::Start(options, *this, clock_);
    EXPECT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(started).value();
  }
  ~EchoServer() override { server_->Stop(); }

  uint16_t port() const { return server_->port(); }
  HttpServer& server() { return *server_; }

  HttpResponse Handle(const HttpRequest& request) override { return function_(request); }
  HttpResponse Overloaded(const HttpRequest&) override { return {.status = 503}; }

  // Answers with the parsed request, "method|segment|segment?name=value|…|body", or with
  // its defect.
  static HttpResponse Echo(const HttpRequest& request) {
    std::string text = request.method;
    for (const std::string& segment : request.segments) text += "|" + segment;
    for (const auto& [name, value] : request.query) text += "?" + name + "=" + value;
    text += "|" + request.body;
    switch (request.defect) {
      case HttpDefect::kNone: break;
      case HttpDefect::kTargetTooLong: text = "target too long"; break;
      case HttpDefect::kBadTarget: text = "bad target"; break;
      case HttpDefect::kBodyTooLarge: text = "body too large"; break;
      case HttpDefect::kBadHeader: text = "bad header"; break;
      case HttpDefect::kBadHost: text = "bad host"; break;
      case HttpDefect::kUnknownCoding: text = "unknown coding"; break;
    }
    return {.status = 200, .body = text};
  }

 private:
  SystemClock clock_;
  const Function function_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace carillon::test
