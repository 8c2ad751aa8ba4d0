// The private MariaDB server when it is adopted, ended and restarted. Everything that it
// acknowledged survives.
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "common/adapters/mysql/mariadbd/server_process.h"
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

class PrivateMariadbdTest : public ::testing::Test {
 protected:
  mysql::PrivateMariadbdOptions Options(const std::string& name = "mariadb") const {
    return {.directory = scratch_.path() + "/" + name,
            .buffer_pool_bytes = 32 << 20,
            .redo_log_bytes = 16 << 20};
  }
  // Like Options, but with a copy of a prepared data directory, because creating one is slow.
  mysql::PrivateMariadbdOptions Made(const std::string& name = "mariadb") const {
    static const ScratchDirectory made(ScratchPlace::kMemory);
    static const bool once = [this] {
      mysql::PrivateMariadbdOptions options = Options();
      options.directory = made.path() + "/mariadb";
      return StoreDriver::v(Start(options))->Stop().ok();
    }();
    EXPECT_TRUE(once);
    const mysql::PrivateMariadbdOptions options = Options(name);
    std::filesystem::create_directories(options.directory);
    std::filesystem::copy(made.path() + "/mariadb/data", options.directory + "/data",
                          std::filesystem::copy_options::recursive);
    return options;
  }
  Result<std::unique_ptr<mysql::PrivateMariadbd>> Start(
      const mysql::PrivateMariadbdOptions& options) const {
    return mysql::PrivateMariadbd::Start(options, clock_);
  }
  static Status Answers(const mysql::PrivateMariadbd& server) {
    const auto session =
        mysql::Session::Connect({.socket_path = server.socket_path(), .user = server.user()});
    return session.ok() ? Status() : Status(session.error());
  }
  static void AwaitEnd(pid_t pid) {
    const int pidfd = mysql::OpenPidfd(pid);
    if (pidfd < 0) return;
    EXPECT_TRUE(mysql::AwaitExit(pidfd, 30s));
    close(pidfd);
  }
  static bool Runs(const std::string& directory) {
    return !mysql::FindByArgument("--datadir=" + directory + "/data").empty();
  }

  SystemClock clock_;
  // In memory, which is faster. A killed process does not lose what it has written to a file there.
  ScratchDirectory scratch_{ScratchPlace::kMemory};
};

TEST_F(PrivateMariadbdTest, StartsAnswersStopsAndKeepsItsData) {
  std::string directory;
  {
    const auto server = StoreDriver::v(Start(Options()));
    directory = Options().directory;
    ASSERT_OK(Answers(*server));
    const auto session = StoreDriver::v(
        mysql::Session::Connect({.socket_path = server->socket_path(), .user = server->user()}));
    ASSERT_OK(session->Run("CREATE DATABASE kept"));
    struct stat info {};
    ASSERT_EQ(stat(directory.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
  }
  EXPECT_FALSE(Runs(directory));
  const auto again = StoreDriver::v(Start(Options()));
  EXPECT_FALSE(again->adopted());
  EXPECT_TRUE(mysql::Session::Connect(
                  {.socket_path = again->socket_path(), .user = again->user(), .database = "kept"})
                  .ok());
}

// A server that starts deletes all temporary tables in its directory for them, even those
// of other servers.
TEST_F(PrivateMariadbdTest, TemporaryTablesHaveADirectoryOfTheirOwn) {
  const auto server = StoreDriver::v(Start(Made()));
  const auto session = StoreDriver::v(
      mysql::Session::Connect({.socket_path = server->socket_path(), .user = server->user()}));
  mysql::Rows rows = StoreDriver::v(session->Ask("SELECT @@tmpdir"));
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Text(1), Options().directory + "/tmp");
}

TEST_F(PrivateMariadbdTest, DirectoryIsUsedByOneProcessAtATime) {
  const auto server = StoreDriver::v(Start(Made()));
  EXPECT_CODE(Start(Options()), ErrorCode::kConflict);
  EXPECT_OK(Answers(*server));
}

TEST_F(PrivateMariadbdTest, ServerOfAKilledPredecessorIsTakenOver) {
  pid_t pid = 0;
  {
    const auto server = StoreDriver::v(Start(Made()));
    pid = server->pid();
    server->Abandon();
  }
  const auto heir = StoreDriver::v(Start(Options()));
  EXPECT_TRUE(heir->adopted());
  EXPECT_EQ(heir->pid(), pid);
  ASSERT_OK(Answers(*heir));
  ASSERT_OK(heir->Stop());
  EXPECT_FALSE(Runs(Options().directory));
  waitpid(pid, nullptr, 0);
}

TEST_F(PrivateMariadbdTest, ServerWithOtherOptionsIsEndedFirst) {
  pid_t pid = 0;
  {
    const auto server = StoreDriver::v(Start(Made()));
    pid = server->pid();
    server->Abandon();
  }
  mysql::PrivateMariadbdOptions other = Options();
  other.buffer_pool_bytes *= 2;
  // In this test the previous server is a child of this process. When it ends it stays a zombie
  // until this thread waits for it.
  std::thread reaper([pid] { waitpid(pid, nullptr, 0); });
  const auto heir = StoreDriver::v(Start(other));
  reaper.join();
  EXPECT_FALSE(heir->adopted());
  EXPECT_NE(heir->pid(), pid);
  EXPECT_OK(Answers(*heir));
}

TEST_F(PrivateMariadbdTest, DeadServerIsStartedAgain) {
  const auto server = StoreDriver::v(Start(Made()));
  const pid_t first = server->pid();
  const SteadyTime next = server->Step(clock_.Steady());
  EXPECT_EQ(server->pid(), first);
  EXPECT_GT(next, clock_.Steady() - 1s);
  kill(first, SIGKILL);
  AwaitEnd(first);
  server->Step(clock_.Steady());
  EXPECT_NE(server->pid(), first);
  EXPECT_EQ(server->restarts(), 1);
  EXPECT_OK(Answers(*server));
}

TEST_F(PrivateMariadbdTest, HalfMadeDatabaseIsMadeAnew) {
  const std::string fresh = Options().directory + "/data.new";
  std::filesystem::create_directories(fresh);
  std::ofstream(fresh + "/ibdata1") << "half";
  const auto server = StoreDriver::v(Start(Options()));
  EXPECT_OK(Answers(*server));
  EXPECT_FALSE(std::filesystem::exists(fresh));
}

TEST_F(PrivateMariadbdTest, LongDirectoryGetsItsSocketElsewhere) {
  const mysql::PrivateMariadbdOptions options = Made(std::string(120, 'd'));
  std::string folder;
  {
    const auto server = StoreDriver::v(Start(options));
    EXPECT_LE(server->socket_path().size(), mysql::kSocketPathMax);
    folder = std::filesystem::path(server->socket_path()).parent_path();
    struct stat info {};
    ASSERT_EQ(stat(folder.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    EXPECT_OK(Answers(*server));
  }
  std::filesystem::remove_all(folder);
}

TEST_F(PrivateMariadbdTest, MissingServerProgramIsSaidSo) {
  mysql::PrivateMariadbdOptions options = Options();
  options.mariadbd = "/nowhere/mariadbd";
  EXPECT_FALSE(Start(options).ok());
}

TEST_F(PrivateMariadbdTest, NothingAcknowledgedIsLostWhenTheServerIsKilled) {
  const auto server = StoreDriver::v(Start(Made()));
  const mysql::MysqlOptions options{.session = {.socket_path = server->socket_path(),
                                                .user = server->user(),
                                                .database = "carillon"},
                                    .pool_size = 4,
                                    .create_database = true,
                                    .segment_count = kSegments};
  MysqlHandle handle(StoreDriver::v(mysql::MysqlStores::Open(options)));
  StoreDriver s(handle);
  const StoredJob job = s.Create("a", s.Manual());
  std::vector<RunKey> acknowledged;
  for (int kill_nr = 0; kill_nr < 3; ++kill_nr) {
    std::atomic<size_t> written{0};
    std::thread writer([&] {
      while (true) {
        const auto run = handle.runs().ExecuteJob({.job_id = job.job_id},
                                                  {.now = kT0 + Duration(kill_nr * 1'000'000)});
        if (!run.ok()) {
          EXPECT_TRUE(run.code() == ErrorCode::kTimeout || run.code() == ErrorCode::kUnavailable)
              << run.error().message;
          return;
        }
        acknowledged.push_back(run->key);
        written.fetch_add(1);
        written.notify_one();
      }
    });
    for (size_t seen = 0; seen < 20; seen = written.load()) written.wait(seen);
    const pid_t pid = server->pid();
    kill(pid, SIGKILL);
    writer.join();
    AwaitEnd(pid);
    server->Step(clock_.Steady());
    for (const RunKey& key : acknowledged) ASSERT_OK(handle.runs().GetRun(key));
  }
  EXPECT_GE(acknowledged.size(), 60u);
  EXPECT_EQ(server->restarts(), 3);
}

// A process that ends while the list of processes is read is skipped, and nothing else changes.
TEST_F(PrivateMariadbdTest, ProcessesThatEndWhileTheyAreLookedAt) {
  const std::jthread others([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto pid = mysql::Spawn({"/bin/true"}, "/dev/null");
      ASSERT_OK(pid);
      waitpid(*pid, nullptr, 0);
    }
  });
  const std::string seconds = fmt::format("1234.{}", getpid());  // an argument of no other process
  const auto sleeper = mysql::Spawn({"/bin/sleep", seconds}, "/dev/null");
  EXPECT_OK(sleeper);
  while (mysql::FindByArgument(seconds).empty()) {  // the kernel is still copying its arguments
  }
  int found = 0;
  for (int i = 0; i < 3'000; ++i) {
    found += static_cast<int>(mysql::FindByArgument(seconds).size());
  }
  EXPECT_EQ(found, 3'000);
  kill(*sleeper, SIGKILL);
  waitpid(*sleeper, nullptr, 0);
}

// The standalone server must also run for ordinary users, not only for root.
TEST_F(PrivateMariadbdTest, OrdinaryUserNeedsNoPrivileges) {
  if (geteuid() != 0) {
    EXPECT_OK(Start(Options()));  // this process already runs as an ordinary user
    return;
  }
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(chmod(scratch_.path().c_str(), 0777), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
    const SystemClock clock;
    auto server = mysql::PrivateMariadbd::Start(Options("nobodys"), clock);
    if (!server.ok()) {
      std::fprintf(stderr, "%s\n", server.error().message.c_str());
      _exit(3);
    }
    if (!Answers(**server).ok()) _exit(4);
    _exit((*server)->Stop().ok() ? 0 : 5);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace carillon::test
