// The served contract, which must name exactly the routes of the route table.
#include <set>
#include <string>

#include "scheduler/api/server/route_table.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::scheduler {
namespace {

class OpenApiTest : public test::ApiEnv {
 protected:
  test::Answer Ask(const std::string& method, const std::string& path, HttpHeaders headers = {}) {
    return SendOn(client_, method, path, "", std::move(headers));
  }
};

// "/api/jobs/{job_id}/next" in the form of the route table.
std::string WithoutNames(std::string path) {
  for (size_t open = path.find('{'); open != std::string::npos; open = path.find('{', open + 1)) {
    path.erase(open + 1, path.find('}', open) - open - 1);
  }
  return path;
}

TEST_F(OpenApiTest, NamesEveryRouteAndNoOther) {
  const test::Answer answer = Ask("GET", "/api/openapi.json");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-type"), "application/json");
  const auto document = answer.body();
  EXPECT_EQ(document["openapi"], "3.1.0");
  EXPECT_FALSE(document.contains("x-anchors"));
  std::set<std::string> documented;
  for (const auto& [path, item] : document["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      documented.insert(upper + " " + WithoutNames(path));
    }
  }
  std::set<std::string> served = {"GET /api/openapi.json", "GET /api/reference", "GET /livez",
                                  "GET /readyz"};
  for (const Route& route : RouteTable()) {
    served.insert(std::string(route.method) + " " + std::string(route.path));
  }
  EXPECT_EQ(documented, served);
}

TEST_F(OpenApiTest, NeedsNoTokenAndIsNotSentAgain) {
  for (const char* path : {"/api/openapi.json", "/api/reference"}) {
    const test::Answer first = Ask("GET", path);
    ASSERT_EQ(first.status, 200) << path;
    const std::string tag = first.header("etag");
    ASSERT_FALSE(tag.empty()) << path;
    const test::Answer again = Ask("GET", path, {{"If-None-Match", tag}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_TRUE(again.text.empty()) << path;
    EXPECT_EQ(Ask("GET", path, {{"If-None-Match", "\"other\""}}).status, 200) << path;
    EXPECT_EQ(Ask("HEAD", path).status, 200) << path;
    const test::Answer refused = Ask("POST", path);
    EXPECT_EQ(refused.status, 405) << path;
    EXPECT_EQ(refused.header("allow"), "GET, HEAD") << path;
  }
}

TEST_F(OpenApiTest, ReferenceIsAPageWithoutScripts) {
  const test::Answer page = Ask("GET", "/api/reference");
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  const std::string policy = page.header("content-security-policy");
  EXPECT_NE(policy.find("default-src 'none'; style-src 'sha256-"), std::string::npos) << policy;
  EXPECT_EQ(page.text.find("<script"), std::string::npos);
  for (const char* part : {"<code>/api/jobs/{job_id}/execute</code>", "id=\"schema-Job\"",
                           "href=\"openapi.json\"", "</html>"}) {
    EXPECT_NE(page.text.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace carillon::scheduler
