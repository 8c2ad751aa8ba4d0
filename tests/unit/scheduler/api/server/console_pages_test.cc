#include "scheduler/api/server/console_pages.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

constexpr std::string_view kIndexText =
    "<!doctype html><html><head><base href=\"/\"><script "
    "src=\"assets/main-1a.js\"></script></head>";
constexpr EmbeddedFile kFiles[] = {
    {"assets/main-1a.js", "plain script", "11111111111111111111111111111111aa"},
    {"assets/main-1a.js.br", "brotli script", "22222222222222222222222222222222aa"},
    {"assets/main-1a.js.gz", "gzip script", "33333333333333333333333333333333aa"},
    {"assets/style-2b.css", "style", "44444444444444444444444444444444aa"},
    {"icon.svg", "<svg/>", "55555555555555555555555555555555aa"},
    {"index.html", kIndexText, "66666666666666666666666666666666aa"},
};

class ConsolePagesTest : public ApiEnv {
 protected:
  ConsolePagesTest() : ApiEnv(1min, kFiles) {}
  Answer Open(const std::string& path, HttpHeaders headers = {},
              const std::string& method = "GET") {
    return SendOn(client_, method, path, "", std::move(headers));
  }
};

TEST_F(ConsolePagesTest, PagesAreOneDocumentWithoutAToken) {
  for (const char* path : {"/", "/jobs", "/jobs/nightly/edit", "/executors/db.example.com",
                           "/runs/069F?line=3", "/index.html", "/no-such-page"}) {
    const Answer page = Open(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(page.text, kIndexText) << path;
    EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
    EXPECT_EQ(page.header("cache-control"), "no-cache");
  }
}

TEST_F(ConsolePagesTest, ProbesAreNeverAnsweredWithAPage) {
  EXPECT_EQ(Open("/livez").text, "ok\n");
  EXPECT_EQ(Open("/readyz").text, "ok\n");
  EXPECT_EQ(Open("/readyz?verbose").text, "[+] store ok\nready\n");
  EXPECT_EQ(Open("/readyz", {}, "HEAD").status, 200);
  EXPECT_EQ(Open("/readyz", {}, "POST").header("allow"), "GET, HEAD");
  fit_ = false;
  EXPECT_EQ(Open("/livez").status, 200);
  const Answer unfit = Open("/readyz?verbose");
  EXPECT_EQ(unfit.status, 503);
  EXPECT_EQ(unfit.text, "[-] store failed: unavailable\nnot ready\n");
  EXPECT_EQ(unfit.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(unfit.header("cache-control"), "no-store");
  for (const char* path : {"/health", "/healthz", "/metrics", "/health/live", "/livez/", "/ready",
                           "/readyz/store", "/metrics/"}) {
    const Answer none = Open(path);
    EXPECT_EQ(none.status, 404) << path;
    EXPECT_EQ(none.header("content-type"), "application/problem+json") << path;
    EXPECT_EQ(none.body().value("code", ""), "not_found") << path;
  }
}

TEST_F(ConsolePagesTest, EverythingCarriesAPolicyThatAllowsNothingInline) {
  for (const char* path : {"/", "/assets/main-1a.js", "/icon.svg"}) {
    const Answer answer = Open(path);
    const std::string policy = answer.header("content-security-policy");
    EXPECT_NE(policy.find("default-src 'none'"), std::string::npos) << path;
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos) << path;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos) << path;
    EXPECT_EQ(answer.header("x-content-type-options"), "nosniff");
    EXPECT_EQ(answer.header("referrer-policy"), "no-referrer");
  }
}

TEST_F(ConsolePagesTest, HashedFilesAreKeptForAYearOthersAreAskedForAgain) {
  EXPECT_EQ(Open("/assets/style-2b.css").header("cache-control"),
            "public, max-age=31536000, immutable");
  EXPECT_EQ(Open("/icon.svg").header("cache-control"), "no-cache");
}

TEST_F(ConsolePagesTest, TheEncodingIsOneThatIsAccepted) {
  const std::string path = "/assets/main-1a.js";
  const struct {
    std::string accept, coding, text;
  } cases[] = {
      {"", "", "plain script"},
      {"gzip, deflate, br", "br", "brotli script"},
      {"GZIP", "gzip", "gzip script"},
      {"br;q=0, gzip;q=0.5", "gzip", "gzip script"},
      {"br;q=0.000,gzip; q=0", "", "plain script"},
      {"brotli, xgzip", "", "plain script"},
  };
  for (const auto& c : cases) {
    const Answer answer =
        Open(path, c.accept.empty() ? HttpHeaders{} : HttpHeaders{{"Accept-Encoding", c.accept}});
    EXPECT_EQ(answer.header("content-encoding"), c.coding) << c.accept;
    EXPECT_EQ(answer.text, c.text) << c.accept;
    EXPECT_EQ(answer.header("vary"), "Accept-Encoding");
    EXPECT_EQ(answer.header("content-type"), "text/javascript; charset=utf-8");
  }
}

TEST_F(ConsolePagesTest, EachEncodingHasItsOwnTagAndIsNotSentAgain) {
  const std::string path = "/assets/main-1a.js";
  const std::string plain = Open(path).header("etag");
  const std::string gzip = Open(path, {{"Accept-Encoding", "gzip"}}).header("etag");
  EXPECT_NE(plain, gzip);
  const Answer again = Open(path, {{"If-None-Match", plain}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.text, "");
  EXPECT_EQ(again.header("etag"), plain);
  EXPECT_EQ(Open(path, {{"If-None-Match", gzip}}).status, 200);
}

TEST_F(ConsolePagesTest, HeadIsGetWithoutTheBody) {
  for (const char* path : {"/jobs", "/assets/main-1a.js"}) {
    const Answer head = Open(path, {}, "HEAD");
    EXPECT_EQ(head.status, 200) << path;
    EXPECT_EQ(head.text, "") << path;
    EXPECT_EQ(head.header("etag"), Open(path).header("etag")) << path;
  }
}

TEST_F(ConsolePagesTest, WhatIsNotInTheTableIsNotThere) {
  for (const char* path : {"/assets/main-9z.js", "/assets", "/assets/", "/favicon.ico",
                           "/robots.txt", "/assets/main-1a.js.gz", "/assets/%2e%2e/index.html",
                           "/assets%2Fmain-1a.js.map", "/.%2e/etc/passwd"}) {
    EXPECT_EQ(Get(path).status, 404) << path;
    EXPECT_EQ(Open(path).status, 401) << path;
  }
}

TEST_F(ConsolePagesTest, TheApiStaysTheApi) {
  EXPECT_EQ(Open("/api").status, 401);
  EXPECT_EQ(Open("/api/jobs").status, 401);
  EXPECT_EQ(Get("/api/nothing").status, 404);
  EXPECT_EQ(Get("/api/jobs").header("cache-control"), "no-store");
  EXPECT_EQ(Open("/jobs", {}, "POST").status, 401);
  EXPECT_EQ(Send("DELETE", "/jobs").status, 404);
}

TEST_F(ConsolePagesTest, ThePageKnowsThePathThatAProxyServesItUnder) {
  const auto base_of = [&](const std::string& prefix) {
    const Answer page = Open("/jobs", {{"X-Forwarded-Prefix", prefix}});
    EXPECT_EQ(page.header("vary"), "X-Forwarded-Prefix");
    const size_t from = page.text.find("<base href=\"") + 12;
    return page.text.substr(from, page.text.find('"', from) - from);
  };
  EXPECT_EQ(base_of("/ops/carillon"), "/ops/carillon/");
  EXPECT_EQ(base_of("/ops/carillon/"), "/ops/carillon/");
  for (const std::string& bad :
       {std::string("//evil.example"), std::string("evil"), std::string("https://evil.example/"),
        std::string("/a\"><script>"), std::string("/a/../b"), std::string("/a//b"),
        "/" + std::string(300, 'a')}) {
    EXPECT_EQ(base_of(bad), "/") << bad;
  }
  EXPECT_NE(Open("/", {{"X-Forwarded-Prefix", "/a"}}).header("etag"), Open("/").header("etag"));
}

TEST_F(ConsolePagesTest, AnAnswerNamesANewObjectUnderThePathThatAProxyServes) {
  const std::string job = R"({"job_id": "a", "name": "A", "command": "true"})";
  const auto post = [&](const char* prefix) {
    return Send("POST", "/api/jobs", job,
                {{"X-Forwarded-Prefix", prefix}, {"Idempotency-Key", "k"}});
  };
  EXPECT_EQ(post("/ops/carillon").header("location"), "/ops/carillon/api/jobs/a");
  // The answer is kept for the key and not for the proxy.
  EXPECT_EQ(post("/ops/carillon").header("location"), "/ops/carillon/api/jobs/a");
  EXPECT_EQ(post("/").header("location"), "/api/jobs/a");
}

class NoConsoleTest : public ApiEnv {};

TEST_F(NoConsoleTest, TheStartPageTellsHowToBuildIt) {
  const Answer page = SendOn(client_, "GET", "/", "", {});
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.text.find("./dev build"), std::string::npos);
  EXPECT_EQ(Get("/jobs").status, 404);
}

}  // namespace
}  // namespace carillon::test
