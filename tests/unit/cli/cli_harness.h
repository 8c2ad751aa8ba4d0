// Runs the command line against prepared answers and records its output, requests and exit code.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/cli.h"
#include "tests/support/manual_clock.h"
#include "tests/support/parse_json.h"

namespace carillon::cli {

// A transport with prepared answers by method and URL. Several answers for the same request are
// used in order, and the last one repeats.
class FakeServer : public Transport {
 public:
  struct State {
    std::map<std::string, std::deque<Result<HttpResponse>>> answers;
    std::vector<HttpClientRequest> requests;
  };
  explicit FakeServer(State& state) : state_(state) {}

  Result<HttpResponse> Send(const HttpClientRequest& request) override {
    state_.requests.push_back(request);
    const auto found = state_.answers.find(request.method + " " + request.url);
    if (found == state_.answers.end()) {
      return HttpResponse{.status = 404,
                          .headers = {{"content-type", "application/problem+json"}},
                          .body = R"({"code":"not_found","detail":"nothing recorded"})"};
    }
    auto& answers = found->second;
    Result<HttpResponse> answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }

 private:
  State& state_;
};

class CliTest : public ::testing::Test {
 protected:
  // Queues an answer of the first server, http://a.
  void Answer(const std::string& request, const nlohmann::json& body, int status = 200,
              const std::string& etag = "") {
    AnswerOf("http://a", request, body, status, etag);
  }
  void AnswerOf(const std::string& server, const std::string& request, const nlohmann::json& body,
                int status = 200, const std::string& etag = "") {
    HttpResponse response{.status = status,
                          .headers = {{"content-type", status >= 400 ? "application/problem+json"
                                                                     : "application/json"}},
                          .body = body.dump()};
    if (!etag.empty()) response.headers.emplace_back("etag", etag);
    server_.answers[Key(server, request)].emplace_back(std::move(response));
  }
  void AnswerText(const std::string& request, const std::string& text) {
    server_.answers[Key("http://a", request)].emplace_back(
        HttpResponse{.headers = {{"content-type", "text/plain; charset=utf-8"}}, .body = text});
  }
  void AnswerLog(const std::string& request, const std::string& text, const std::string& last_seq,
                 bool complete) {
    server_.answers[Key("http://a", request)].emplace_back(
        HttpResponse{.headers = {{"content-type", "text/plain; charset=utf-8"},
                                 {"x-log-last-seq", last_seq},
                                 {"x-log-complete", complete ? "true" : "false"}},
                     .body = text});
  }
  void FailOf(const std::string& server, const std::string& request, ErrorCode code) {
    server_.answers[Key(server, request)].emplace_back(Error{code, "recorded"});
  }

  int Run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    in_.clear();
    Host host{
        .environment = environment_,
        .in = in_,
        .out = out_,
        .err = err_,
        .in_is_tty = tty_,
        .out_is_tty = tty_,
        .clock = clock_,
        .wait = [this](Duration time) { clock_.Advance(time); },
        .transport =
            [this](const std::string& ca_file) {
              ca_file_ = ca_file;
              return std::make_unique<FakeServer>(server_);
            },
        .read_password = [this](const std::string& prompt) -> Result<std::string> {
          prompts_ += prompt;
          if (typed_passwords_.empty()) return typed_password_;
          std::string typed = typed_passwords_.front();
          typed_passwords_.pop_front();
          return typed;
        },
        .edit = [this](const std::string& file) { return edit_(file); },
        .standalone =
            [this](const StandaloneArguments& arguments_given) {
              standalone_ = arguments_given;
              return 0;
            },
        .create_backup =
            [this](const BackupArguments& arguments_given) {
              backup_ = arguments_given;
              return backup_reply_;
            },
        .restore_target =
            [](const BackupArguments&) { return std::string("database carillon at db1:3306"); },
        .restore_backup =
            [this](const BackupArguments& arguments_given) {
              backup_ = arguments_given;
              return backup_reply_;
            },
        .seed = 7,
        .version = "1.2.3"};
    return RunCommandLine(arguments, host);
  }

  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }
  nlohmann::json OutJson() const {
    auto document = test::ParseJson(out());
    EXPECT_FALSE(document.is_discarded()) << out();
    return document;
  }
  const HttpClientRequest& Sent(size_t index) const { return server_.requests.at(index); }
  nlohmann::json SentBody(size_t index) const { return test::ParseJson(Sent(index).body); }
  static std::string HeaderOf(const HttpClientRequest& request, const std::string& name) {
    for (const auto& [header, value] : request.headers) {
      if (header == name) return value;
    }
    return "";
  }

  std::map<std::string, std::string> environment_ = {{"CARILLON_ADDR", "http://a"},
                                                     {"CARILLON_TOKEN", "secret"}};
  std::istringstream in_;
  bool tty_ = false;
  std::string typed_password_;                    // typed when typed_passwords_ is empty
  std::deque<std::string> typed_passwords_ = {};  // typed first, one at each prompt
  std::string prompts_;
  test::ManualClock clock_;
  FakeServer::State server_;
  std::string ca_file_;  // the CA file of the last connection
  std::function<Status(const std::string&)> edit_ = [](const std::string&) { return Status(); };
  std::optional<StandaloneArguments> standalone_;
  std::optional<BackupArguments> backup_;
  Result<BackupReply> backup_reply_ = Error{ErrorCode::kUnavailable, "recorded"};

 private:
  // "GET /api/jobs" -> "GET http://a/api/jobs"
  static std::string Key(const std::string& server, const std::string& request) {
    const size_t space = request.find(' ');
    return request.substr(0, space + 1) + server + request.substr(space + 1);
  }

  std::ostringstream out_;
  std::ostringstream err_;
};

inline nlohmann::json ProblemOf(const std::string& code) {
  return {{"code", code},
          {"detail", "it is wrong"},
          {"trace_id", "0af7651916cd43dd8448eb211c80319c"},
          {"errors", {{{"pointer", "/timeout"}, {"code", code}, {"detail", "too small"}}}}};
}

inline nlohmann::json JobShown(const std::string& id) {
  return {{"job_id", id},
          {"name", "Nightly"},
          {"state", "ENABLED"},
          {"version", 3},
          {"enabled", true},
          {"command", "true"},
          {"time_zone", "UTC"},
          {"cron_expression", "0 3 * * *"},
          {"schedules",
           {{{"kind", "cron"},
             {"cron_expression", "0 3 * * *"},
             {"time_zone", "UTC"},
             {"schedule_id", 9}}}},
          {"next_fire_time", "2026-03-01T03:00:00.000000Z"},
          {"create_time", "2026-02-01T03:00:00.000000Z"},
          {"update_time", "2026-02-01T03:00:00.000000Z"},
          {"pause_reason", nullptr}};
}

inline nlohmann::json RunShown(const std::string& state) {
  return {{"run_id", "R1"},       {"job_id", "j"},
          {"kind", "manual"},     {"fire_time", "2026-03-01T03:00:00.000000Z"},
          {"state", state},       {"reason", nullptr},
          {"attempt", 1},         {"executor_id", "executor-1"},
          {"exit_code", nullptr}, {"error", nullptr},
          {"output", "hello\n"}};
}

}  // namespace carillon::cli
