// Every route, requested by every kind of caller.
#include <fmt/core.h>

#include "scheduler/api/accounts/auth_routes.h"
#include "scheduler/api/server/route_table.h"
#include "scheduler/auth/access_token.h"
#include "tests/support/forged_token.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

// The callers that are admitted; other authenticated callers get 403.
enum class Door { kAnyone, kKnown, kUsers, kOwner, kAdmin };

// A request that changes little, and its status for admitted callers.
struct Expected {
  Door door;
  int status;
  const char* body = "";
};

const std::map<std::string, Expected>& Expectations() {
  using enum Door;
  static const std::map<std::string, Expected> table = {
      {"GET /api/jobs", {kKnown, 200}},
      {"POST /api/jobs", {kUsers, 400, "{}"}},
      {"GET /api/jobs/{}", {kKnown, 200}},
      {"PUT /api/jobs/{}", {kOwner, 428, "{}"}},
      {"PATCH /api/jobs/{}", {kOwner, 428, "{}"}},
      {"DELETE /api/jobs/{}", {kOwner, 428}},
      {"POST /api/jobs/{}/pause", {kOwner, 200, "{}"}},
      {"POST /api/jobs/{}/resume", {kOwner, 200, "{}"}},
      {"POST /api/jobs/{}/execute", {kOwner, 202, "{}"}},
      {"POST /api/jobs/{}/cancel", {kOwner, 202, "{}"}},
      {"GET /api/jobs/{}/history", {kKnown, 200}},
      {"GET /api/jobs/{}/queue", {kKnown, 200}},
      {"GET /api/jobs/{}/dependencies", {kKnown, 200}},
      {"GET /api/jobs/{}/graph", {kKnown, 422}},  // the job is no workflow
      {"POST /api/workflows/validate", {kKnown, 400, "{}"}},
      {"GET /api/jobs/{}/next", {kKnown, 200}},
      {"GET /api/jobs/{}/why", {kKnown, 400}},  // the time is missing
      {"GET /api/jobs/{}/versions", {kKnown, 200}},
      {"GET /api/jobs/{}/versions/{}", {kKnown, 200}},
      {"POST /api/jobs/{}/revert", {kOwner, 428, "{}"}},
      {"POST /api/apply", {kUsers, 400, "{}"}},
      {"POST /api/bulk", {kUsers, 400, "{}"}},
      {"POST /api/jobs/{}/backfills", {kOwner, 400, "{}"}},
      {"GET /api/backfills", {kKnown, 200}},
      {"GET /api/backfills/{}", {kKnown, 200}},
      {"POST /api/backfills/{}/pause", {kOwner, 200, "{}"}},
      {"POST /api/backfills/{}/resume", {kOwner, 200, "{}"}},
      {"POST /api/backfills/{}/cancel", {kOwner, 202, "{}"}},
      {"GET /api/groups", {kKnown, 200}},
      {"GET /api/groups/{}", {kKnown, 404}},
      {"PUT /api/groups/{}", {kAdmin, 400, "{}"}},
      {"DELETE /api/groups/{}", {kAdmin, 404}},
      {"GET /api/calendars", {kKnown, 200}},
      {"POST /api/calendars/preview", {kKnown, 400, "[]"}},
      {"GET /api/calendars/{}", {kKnown, 404}},
      {"PUT /api/calendars/{}", {kAdmin, 400, "[]"}},
      {"DELETE /api/calendars/{}", {kAdmin, 404}},
      {"GET /api/namespaces", {kKnown, 200}},
      {"GET /api/bulk", {kKnown, 200}},
      {"GET /api/bulk/{}", {kKnown, 200}},
      {"GET /api/bulk/{}/items", {kKnown, 200}},
      {"POST /api/bulk/{}/cancel", {kOwner, 202, "{}"}},
      {"GET /api/roles", {kKnown, 200}},
      {"GET /api/runs", {kKnown, 200}},
      {"GET /api/recent-runs", {kKnown, 400}},  // the jobs are missing
      {"GET /api/runs/{}", {kKnown, 200}},
      {"POST /api/runs/{}/cancel", {kOwner, 202, "{}"}},
      {"GET /api/runs/{}/nodes", {kKnown, 422}},   // the run is not of a workflow
      {"GET /api/runs/{}/shards", {kKnown, 422}},  // the run has no parts
      {"POST /api/runs/{}/nodes/{}/skip", {kOwner, 422, "{}"}},
      {"POST /api/runs/{}/nodes/{}/decide", {kOwner, 400, "{}"}},
      {"POST /api/runs/{}/release", {kOwner, 400, "[]"}},
      {"POST /api/runs/{}/retry", {kOwner, 400, "[]"}},
      {"GET /api/runs/{}/checkpoint", {kKnown, 404}},  // the run has none
      {"GET /api/runs/{}/logs", {kKnown, 200}},
      {"GET /api/runs/{}/logs/stream", {kKnown, 404}},  // there is no such attempt
      {"GET /api/changes", {kKnown, 400}},              // the parameter is unknown
      {"GET /api/gaps", {kKnown, 200}},
      {"GET /api/events", {kKnown, 200}},
      {"POST /api/events", {kAdmin, 409, "{}"}},       // the upgrade is not finished
      {"POST /api/events/test", {kKnown, 409, "{}"}},  // the same
      {"GET /api/dead-letters", {kKnown, 200}},
      {"GET /api/dead-letters/{}", {kKnown, 200}},
      {"DELETE /api/dead-letters/{}", {kOwner, 204}},
      {"POST /api/dead-letters/{}/retry", {kOwner, 400, "[]"}},
      {"GET /api/failing-jobs", {kKnown, 200}},
      {"GET /api/deliveries", {kKnown, 200}},
      {"POST /api/deliveries/{}/resend", {kAdmin, 404, "{}"}},
      {"POST /api/notify/test", {kAdmin, 409, "{}"}},  // no channel is set up
      {"GET /api/executors", {kKnown, 200}},
      {"POST /api/executors/join-tokens", {kAdmin, 400, "{}"}},
      {"GET /api/executors/{}", {kKnown, 200}},
      {"GET /api/handlers", {kKnown, 200}},
      {"PATCH /api/executors/{}", {kAdmin, 428, "{}"}},
      {"POST /api/executors/{}/enable", {kAdmin, 200, "{}"}},
      {"POST /api/executors/{}/disable", {kAdmin, 200, "{}"}},
      {"POST /api/executors/{}/drain", {kAdmin, 200, "{}"}},
      {"GET /api/secrets", {kKnown, 200}},
      {"POST /api/secrets", {kUsers, 400, "{}"}},
      {"POST /api/secrets/rewrap", {kAdmin, 200, "{}"}},
      {"GET /api/secrets/{}", {kKnown, 200}},
      {"PUT /api/secrets/{}", {kOwner, 428, "{}"}},
      {"DELETE /api/secrets/{}", {kOwner, 428}},
      {"GET /api/audit", {kAdmin, 200}},
      {"GET /api/system/status", {kKnown, 200}},
      {"GET /api/system/topology", {kKnown, 200}},
      {"POST /api/system/store/accept", {kAdmin, 400, "[]"}},
      {"GET /api/system/config", {kKnown, 200}},
      {"PUT /api/system/config", {kAdmin, 428, "{}"}},
      {"POST /api/system/pause", {kAdmin, 400, "{}"}},
      {"POST /api/system/resume", {kAdmin, 200, "{}"}},
      {"GET /api/system/upgrade", {kKnown, 200}},
      {"POST /api/system/upgrade/finish", {kAdmin, 202, "{}"}},
      {"POST /api/waits/preview", {kKnown, 400, "{}"}},
      {"POST /api/schedules/preview", {kKnown, 400, "[]"}},
      {"POST /api/imports/{}", {kKnown, 404, "{}"}},
      {"GET /api/schedules/load", {kKnown, 200}},
      {"GET /api/auth/state", {kAnyone, 200}},
      {"POST /api/auth/setup", {kAnyone, 400, "{}"}},
      {"POST /api/auth/login", {kAnyone, 400, "{}"}},
      {"POST /api/auth/refresh", {kAnyone, 403}},
      {"POST /api/auth/logout", {kAnyone, 204}},
      {"GET /api/auth/me", {kKnown, 200}},
      {"PATCH /api/auth/me", {kKnown, 400, "{}"}},
      {"POST /api/auth/password", {kKnown, 400, "{}"}},
      {"POST /api/auth/setup-link", {kAdmin, 409}},
      {"GET /api/users", {kAdmin, 200}},
      {"POST /api/users", {kAdmin, 400, "{}"}},
      {"GET /api/users/{}", {kAdmin, 200}},
      {"PATCH /api/users/{}", {kAdmin, 428, "{}"}},
      {"DELETE /api/users/{}", {kAdmin, 428}},
      {"GET /api/tokens", {kKnown, 200}},
      {"POST /api/tokens", {kKnown, 400, "{}"}},
      {"DELETE /api/tokens/{}", {kOwner, 204}},
  };
  return table;
}

class RoleMatrixTest : public PeopleEnv {
 protected:
  RoleMatrixTest() {
    AddUser("boss", "admin");
    AddUser("owner", "user");
    AddUser("other", "user");
    AddUser("reader", "read_only");
    AddUser("gone", "admin");
    boss_ = SignIn("boss");
    owner_ = SignIn("owner");
    other_ = SignIn("other");
    reader_ = SignIn("reader");
    gone_ = SignIn("gone");
    const Answer disabled =
        Send("PATCH", "/api/users/user-gone", R"({"disabled": true})", {{"If-Match", "*"}});
    EXPECT_EQ(disabled.status, 200) << disabled.text;
    const Answer made = As(owner_.access_token, "POST", "/api/jobs", JobBody().dump());
    EXPECT_EQ(made.status, 201) << made.text;
    job_id_ = made.body().value("job_id", "");
    EXPECT_EQ(made.body().value("user_id", ""), owner_.user_id);
    run_id_ = Execute(job_id_);
    EXPECT_TRUE(stores_.bulk
                    .CreateBulk({.bulk_id = "owners-bulk",
                                 .action = "pause",
                                 .kind = "job",
                                 .user_id = owner_.user_id,
                                 .role = "user",
                                 .created = clock_.Wall()},
                                {}, {})
                    .ok());
    const StoredJob job = *stores_.jobs.GetJob(JobId(job_id_));
    EXPECT_TRUE(stores_.backfills
                    .CreateBackfill({.job_id = job.job_id,
                                     .schedule_id = job.schedules.at(0).schedule_id,
                                     .from = clock_.Wall() - 24h,
                                     .to = clock_.Wall()},
                                    {}, {.now = clock_.Wall()})
                    .ok());
    AddExecutor("executor-1");
    const Answer secret = As(owner_.access_token, "POST", "/api/secrets",
                             R"({"name": "owners", "value": "a long enough value"})");
    EXPECT_EQ(secret.status, 201) << secret.text;
  }

  // Returns a path of this route that names an object of the owner. If requests change the object,
  // each call creates a new one.
  std::string PathOf(const scheduler::Route& route) {
    std::string path(route.path);
    if (path == "/api/changes") path += "?x=1";  // otherwise the stream would not end
    const size_t at = path.find("{}");
    if (at == std::string::npos) return path;
    std::string id = path.starts_with("/api/jobs") ? job_id_ : "user-other";
    if (path.starts_with("/api/runs")) id = run_id_;
    if (path.starts_with("/api/secrets")) id = "owners";
    if (path.starts_with("/api/dead-letters")) {
      const std::string failed = Execute(job_id_);
      clock_.Advance(1ms);  // its fire is the next free microsecond
      Finish(failed, {.state = RunState::kFailed});
      id = Get("/api/dead-letters").body()["items"][0]["id"];
    }
    if (path.starts_with("/api/bulk")) id = "owners-bulk";
    if (path.starts_with("/api/backfills")) id = "1";
    if (path.starts_with("/api/executors")) id = "executor-1";
    if (path.starts_with("/api/tokens")) {
      id = As(owner_.access_token, "POST", "/api/tokens", R"({"name": "ci"})").body()["token_id"];
    }
    path.replace(at, 2, id);
    if (path.ends_with("/logs/stream")) path += "?attempt=9";  // otherwise it would not end
    const size_t version = path.find("{}");
    return version == std::string::npos ? path : path.replace(version, 2, "1");
  }

  int StatusFor(const std::string& bearer, const scheduler::Route& route,
                const Expected& expected) {
    const Answer answer = As(bearer, std::string(route.method), PathOf(route), expected.body);
    if (answer.status == 403 && expected.door != Door::kAnyone) {
      EXPECT_EQ(answer.body().value("permission", ""), Name(route.permission));
    }
    return answer.status;
  }

  SignedIn boss_, owner_, other_, reader_, gone_;
  std::string job_id_;
  std::string run_id_;
};

TEST_F(RoleMatrixTest, TheTableKnowsEveryRoute) {
  std::set<std::string> known;
  for (const auto& [route, expected] : Expectations()) known.insert(route);
  std::set<std::string> served;
  for (const scheduler::Route& route : scheduler::RouteTable()) {
    served.insert(fmt::format("{} {}", route.method, route.path));
  }
  EXPECT_EQ(served, known);
}

TEST_F(RoleMatrixTest, NobodyUnknownIsLetIn) {
  const std::string key = stores_.auth.EnsureSigningKey("").value();
  const std::string wrong = scheduler::RandomBytes(scheduler::kSigningKeyBytes);
  const scheduler::AccessClaims claims{
      .user_id = boss_.user_id, .name = "boss", .role = "admin", .session = "ses-1"};
  const WallTime now = clock_.Wall();
  const int64_t second = ToUnixMicros(now) / 1'000'000;
  const std::string payload =
      fmt::format(R"({{"iss":"carillon","aud":"carillon-api","sub":"{}","role":"admin",)"
                  R"("sid":"x","iat":{},"exp":{}}})",
                  boss_.user_id, second, second + 500);
  const std::map<std::string, std::string> strangers = {
      {"no token", ""},
      {"garbage", "garbage"},
      {"dots", "a.b.c"},
      {"expired", scheduler::IssueAccessToken(key, claims, now - 1h).value()},
      {"wrong key", scheduler::IssueAccessToken(wrong, claims, now).value()},
      {"alg none", ForgeToken(R"({"alg":"none"})", payload, "")},
      {"no session", scheduler::IssueAccessToken(key, claims, now).value()},
      {"disabled", gone_.access_token},
      {"a refresh token", owner_.cookie.substr(owner_.cookie.find('=') + 1)},
  };
  for (const scheduler::Route& route : scheduler::RouteTable()) {
    const Expected& expected = Expectations().at(fmt::format("{} {}", route.method, route.path));
    const bool open = expected.door == Door::kAnyone;
    for (const auto& [who, bearer] : strangers) {
      EXPECT_EQ(StatusFor(bearer, route, expected), open ? expected.status : 401)
          << route.method << " " << route.path << " by " << who;
    }
  }
}

TEST_F(RoleMatrixTest, EachRoleIsLetInWhereItMay) {
  const std::vector<std::pair<SignedIn*, std::set<Door>>> people = {
      {&boss_, {Door::kAnyone, Door::kKnown, Door::kUsers, Door::kOwner, Door::kAdmin}},
      {&owner_, {Door::kAnyone, Door::kKnown, Door::kUsers, Door::kOwner}},
      {&other_, {Door::kAnyone, Door::kKnown, Door::kUsers}},
      {&reader_, {Door::kAnyone, Door::kKnown}},
  };
  for (const scheduler::Route& route : scheduler::RouteTable()) {
    const Expected& expected = Expectations().at(fmt::format("{} {}", route.method, route.path));
    for (const auto& [person, doors] : people) {
      EXPECT_EQ(StatusFor(person->access_token, route, expected),
                doors.contains(expected.door) ? expected.status : 403)
          << route.method << " " << route.path << " by " << person->user_id;
    }
  }
}

TEST_F(RoleMatrixTest, TheAdministratorsTokenMayDoEverything) {
  for (const scheduler::Route& route : scheduler::RouteTable()) {
    const Expected& expected = Expectations().at(fmt::format("{} {}", route.method, route.path));
    // The administrator's token belongs to no user, so it has no password and no preferences.
    const bool persons =
        route.path == "/api/auth/password" || route.handler == &scheduler::ChangeMe;
    EXPECT_EQ(As(token_, std::string(route.method), PathOf(route), expected.body).status,
              persons ? 403 : expected.status)
        << route.method << " " << route.path;
  }
}

TEST_F(RoleMatrixTest, AUserMakesAndKeepsJobsForHimselfOnly) {
  const std::string bearer = owner_.access_token;
  const Answer foreign =
      As(bearer, "POST", "/api/jobs", JobBody({{"user_id", other_.user_id}}).dump());
  EXPECT_EQ(foreign.status, 403);
  EXPECT_EQ(foreign.code(), "not_owner");
  EXPECT_EQ(foreign.pointer(), "/user_id");
  faults_.plan.Arm("GetGroup", Fault::kUnavailable);  // not read for whom the rights refuse
  const json grouped = JobBody({{"user_id", other_.user_id}, {"concurrency_group", "db"}});
  EXPECT_EQ(As(bearer, "POST", "/api/jobs", grouped.dump()).code(), "not_owner");
  EXPECT_EQ(As(bearer, "POST", "/api/jobs", JobBody({{"user_id", owner_.user_id}}).dump()).status,
            201);
  const std::string path = "/api/jobs/" + job_id_;
  const HttpHeaders any = {{"If-Match", "*"}};
  const std::string give = json{{"user_id", other_.user_id}}.dump();
  EXPECT_EQ(As(bearer, "PATCH", path, give, any).status, 403);
  EXPECT_EQ(As(bearer, "PUT", path, JobBody({{"user_id", "admin"}}).dump(), any).status, 403);
  EXPECT_EQ(As(bearer, "PATCH", path, R"({"name": "mine"})", any).status, 200);
  EXPECT_EQ(As(boss_.access_token, "PATCH", path, give, any).status, 200);
  const Answer lost = As(bearer, "PATCH", path, R"({"name": "not mine"})", any);
  EXPECT_EQ(lost.status, 403);
  EXPECT_EQ(lost.code(), "not_owner");
  EXPECT_EQ(As(other_.access_token, "DELETE", path, "", any).status, 204);
}

TEST_F(RoleMatrixTest, WhatIsNotThereIsNotFoundAndNotForbidden) {
  EXPECT_EQ(As(owner_.access_token, "POST", "/api/jobs/none/execute", "{}").status, 404);
  EXPECT_EQ(As(owner_.access_token, "POST", "/api/jobs/!!/execute", "{}").status, 404);
  EXPECT_EQ(As(owner_.access_token, "POST", "/api/runs/xx/cancel", "{}").status, 400);
  EXPECT_EQ(As(owner_.access_token, "DELETE", "/api/tokens/tok-none").status, 404);
}

}  // namespace
}  // namespace carillon::test
