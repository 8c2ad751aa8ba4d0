// Answers as servers really give them: packed, in other charsets, after redirects, with
// credentials.
#include <zlib.h>

#include "tests/unit/executor/http/runner_case.h"

namespace carillon::executor::http_answers_test {
namespace {

std::string Gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string source = text;
  stream.next_in = reinterpret_cast<Bytef*>(source.data());
  stream.avail_in = static_cast<uInt>(source.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class HttpAnswersTest : public RunnerCase {
 protected:
  void Answers(HttpHeaders headers, std::string body) {
    server_.Answer([headers = std::move(headers), body = std::move(body)](const HttpRequest&) {
      return HttpResponse{.headers = headers, .body = body};
    });
  }
};

TEST_F(HttpAnswersTest, PackedBodiesAreUnpacked) {
  Answers({{"Content-Encoding", "gzip"}}, Gzipped(R"({"status": "ok"})"));
  for (const char* asked : {"", "gzip"}) {
    StartHttp start = To("/");
    if (*asked != '\0') start.headers = {{"Accept-Encoding", asked}};
    start.expect.json = {{"/status", std::string("ok")}};
    const AttemptResult result = Run(std::move(start));
    EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
    EXPECT_EQ(result.output, R"({"status": "ok"})");
    EXPECT_FALSE(result.output_truncated);
    EXPECT_TRUE(Logs(R"({"status": "ok"})")) << log_;
  }
  EXPECT_NE(server_.Seen()[0].Header("accept-encoding")->find("gzip"), std::string::npos);
  EXPECT_EQ(*server_.Seen()[1].Header("accept-encoding"), "gzip") << "the job's own";
  EXPECT_EQ(server_.Seen()[1].CountHeader("accept-encoding"), 1u);
}

TEST_F(HttpAnswersTest, ASmallBodyThatUnpacksWithoutEndIsCut) {
  Answers({{"Content-Encoding", "gzip"}},
          Gzipped(std::string(HttpTransfer::kUnpackedBytesMax + (32u << 20), 'x')));
  const AttemptResult result = Run(To("/"));
  EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
  EXPECT_EQ(result.output.size(), 64u << 10);
  EXPECT_TRUE(result.output_truncated);
  StartHttp start = To("/");
  start.expect.json = {{"/status", std::string("ok")}};
  EXPECT_EQ(Run(std::move(start)).reason, reason::kHttpBody);
}

TEST_F(HttpAnswersTest, ABodyThatCannotBeUnpackedFailsOnlyWhoLooksAtIt) {
  for (const char* encoding : {"gzip", "never-heard-of"}) {
    Answers({{"Content-Encoding", encoding}}, "not packed");
    EXPECT_EQ(Run(To("/")).state, RunState::kCompleted) << encoding;
    EXPECT_TRUE(Logs("cannot be unpacked")) << log_;
    StartHttp start = To("/");
    start.expect.contains = "packed";
    const AttemptResult result = Run(std::move(start));
    EXPECT_EQ(result.reason, reason::kHttpBody) << encoding;
    EXPECT_NE(result.error.find("unpacked"), std::string::npos) << result.error;
  }
}

TEST_F(HttpAnswersTest, OtherCharsetsBecomeUtf8) {
  Answers({{"Content-Type", "text/plain; Charset=\"GBK\""}}, "\xd6\xb4\xd0\xd0\xb3\xc9\xb9\xa6");
  StartHttp start = To("/");
  start.expect.contains = "执行";
  const AttemptResult text = Run(std::move(start));
  EXPECT_EQ(text.state, RunState::kCompleted) << text.error;
  EXPECT_EQ(text.output, "执行成功");
  EXPECT_TRUE(Logs("执行成功\n"));
  std::string utf16 = "\xff\xfe";
  for (const char c : std::string(R"({"status": "ok"})")) utf16 += {c, '\0'};
  Answers({{"Content-Type", "application/json"}}, utf16);
  start = To("/");
  start.expect.json = {{"/status", std::string("ok")}};
  EXPECT_EQ(Run(std::move(start)).state, RunState::kCompleted) << "by its mark";
}

TEST_F(HttpAnswersTest, AnUnknownCharsetLeavesTheBytes) {
  Answers({{"Content-Type", "text/plain; charset=klingon"}}, "a\xd6z");
  EXPECT_EQ(Run(To("/")).output, "a\xd6z");
  EXPECT_TRUE(Logs("klingon")) << log_;
}

// A page about an error repeats the bytes of the request and states the charset of the page.
TEST_F(HttpAnswersTest, ASecretInUtf8IsMaskedInAResponseOfAnotherCharset) {
  for (const char* charset : {"iso-8859-1", "gbk", "utf-8"}) {
    Answers({{"Content-Type", std::string("text/html; charset=") + charset}},
            "got käßwörd-geheim here");
    StartHttp start = To("/");
    start.masked = {"käßwörd-geheim"};
    EXPECT_EQ(Run(std::move(start)).output, "got *** here") << charset;
    EXPECT_FALSE(Logs("geheim")) << log_;
  }
}

TEST_F(HttpAnswersTest, CredentialsAreNotLogged) {
  server_.Answer([](const HttpRequest& request) {
    if (request.target == "/end") return HttpResponse{.body = "hello"};
    return HttpResponse{.status = 302,
                        .headers = {{"Set-Cookie", "session=abc1"},
                                    {"X-Auth-Token", "abc2"},
                                    {"X-Api-Key", "abc3"},
                                    {"X-Plain", "shown"},
                                    {"Location", "/end?sig=abc4&x=y"}}};
  });
  StartHttp start = To("/");
  start.follow = 1;
  Run(std::move(start));
  EXPECT_FALSE(Logs("abc")) << log_;
  EXPECT_TRUE(Logs("< set-cookie: ***\n")) << log_;
  EXPECT_TRUE(Logs("< x-plain: shown\n")) << log_;
  EXPECT_TRUE(Logs("/end?sig=***&x=y\n")) << log_;
}

TEST_F(HttpAnswersTest, ARowOfRedirectsThatIsTooLongSaysSo) {
  server_.Answer([](const HttpRequest&) {
    return HttpResponse{.status = 302, .headers = {{"Location", "/round"}}};
  });
  StartHttp start = To("/round");
  start.follow = 5;
  const AttemptResult result = Run(std::move(start));
  EXPECT_EQ(result.reason, reason::kHttpStatus);
  EXPECT_EQ(result.error, "stopped after 5 redirects (http.follow); the last was a 302 to /round");
}

TEST_F(HttpAnswersTest, TheHostOfTheJobIsSent) {
  StartHttp start = To("/");
  start.headers = {{"host", "shop.example:81"}};
  EXPECT_EQ(Run(std::move(start)).state, RunState::kCompleted);
  EXPECT_EQ(*server_.Seen()[0].Header("host"), "shop.example:81");
  EXPECT_EQ(server_.Seen()[0].CountHeader("host"), 1u);
}

TEST_F(HttpAnswersTest, UrlsAreEncoded) {
  EXPECT_EQ(Run(To(server_.Url("/a b?x=你"))).state, RunState::kCompleted);
  EXPECT_EQ(server_.Seen()[0].target, "/a%20b?x=%E4%BD%A0");
  const AttemptResult refused = Run(To("http://a b/"));
  EXPECT_EQ(refused.reason, reason::kHttpError);
  EXPECT_TRUE(refused.no_retry) << "no attempt can send it";
}

TEST_F(HttpAnswersTest, AProxyGetsTheRequests) {
  // In a proxy's place, the server gets the whole URL.
  const auto make = [&](std::string direct) {
    Make({.policy = AddressPolicy(*ParseNetworks("127.0.0.0/8"), {}),
          .proxy = {.url = "http://proxy.test:" + server_.Port(), .direct = std::move(direct)}});
  };
  make("");
  server_.Answer([](const HttpRequest& request) { return HttpResponse{.body = request.target}; });
  EXPECT_EQ(Run(To("http://nobody.example/x?y")).output, "http://nobody.example/x?y")
      << "the proxy looks up the name";
  EXPECT_EQ(Run(To("http://169.254.169.254/latest")).reason, reason::kHttpForbidden)
      << "an address in the URL is judged here";
  EXPECT_EQ(Run(To("http://2852039166/latest")).reason, reason::kHttpForbidden);
  EXPECT_EQ(server_.Seen().size(), 1u);
  make("127.0.0.0/8, intern.example");
  EXPECT_EQ(Run(To(server_.Url("/x"))).output, "/x") << "directly";
  EXPECT_EQ(Run(To("http://a.intern.example/")).reason, reason::kHttpError)
      << "its name is looked up here, and has no address";
}

TEST_F(HttpAnswersTest, AProxyMayHaveAnAddressThatJobsMayNotCall) {
  Make({.policy = AddressPolicy(), .proxy = {.url = "http://" + server_.Address()}});
  EXPECT_EQ(Run(To("http://nobody.example/")).output, "hello");
  EXPECT_EQ(Run(To(server_.Url("/"))).reason, reason::kHttpForbidden);
}

}  // namespace
}  // namespace carillon::executor::http_answers_test
