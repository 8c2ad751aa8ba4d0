#include "executor/server/host_users.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "common/base/log.h"

namespace carillon::executor {
namespace {

constexpr Duration kUsersLookEvery = 60s;
constexpr Duration kLookAgain = 2s;  // until the own user is found and the database answers
constexpr size_t kEntryBytesMax = 1u << 20;
constexpr int kGroupsMax = 65'536;  // of Linux

Result<std::vector<uint32_t>> GroupsOf(const std::string& name, gid_t gid) {
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  while (getgrouplist(name.c_str(), gid, groups.data(), &count) < 0) {
    if (count > kGroupsMax)
      return {ErrorCode::kUnavailable, fmt::format("user {} has too many groups", name)};
    const size_t wanted = std::max(static_cast<size_t>(count), groups.size() * 2);
    groups.resize(wanted);
    count = static_cast<int>(wanted);
  }
  return std::vector<uint32_t>(groups.begin(), groups.begin() + count);
}

// `ask` is one of the functions of the C library that fill an entry from a buffer.
template <typename Ask>
Result<ProcessUser> EntryOf(const std::string& who, const Ask& ask) {
  std::vector<char> buffer(4096);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ask(&entry, buffer.data(), buffer.size(), &found)) == ERANGE &&
         buffer.size() < kEntryBytesMax) {
    buffer.resize(buffer.size() * 2);
  }
  // A host without a user database says so by ENOENT.
  const bool unknown = error != 0 && error != ENOENT && error != ESRCH;
  if (unknown)
    return {ErrorCode::kUnavailable, fmt::format("look up {}: {}", who, std::strerror(error))};
  if (found == nullptr) return {ErrorCode::kNotFound, fmt::format("this host has no {}", who)};
  return ProcessUser{
      .name = entry.pw_name, .uid = entry.pw_uid, .gid = entry.pw_gid, .home = entry.pw_dir};
}

bool IsSilent(const Result<ProcessUser>& user) {
  return !user.ok() && user.code() == ErrorCode::kUnavailable;
}

// The entry of the executor's own user is kept for good: its number does not change, and without
// HOME `rm -rf $HOME/tmp` works on /tmp. A directory that just starts, or a file of users that is
// being rewritten, answers that there is no such user.
void LearnOwn(Result<ProcessUser> found, Result<ProcessUser>& known) {
  if (found.ok() || !known.ok()) known = std::move(found);
}

// Keeps the user that was found before while the directory does not answer.
void Learn(Result<ProcessUser> found, Result<ProcessUser>& known) {
  if (!IsSilent(found) || !known.ok()) known = std::move(found);
}

}  // namespace

Result<ProcessUser> LookUpUser(const std::string& name) {
  CARILLON_ASSIGN_OR_RETURN(
      ProcessUser user,
      EntryOf("user " + name, [&name](passwd* entry, char* buffer, size_t size, passwd** found) {
        return getpwnam_r(name.c_str(), entry, buffer, size, found);
      }));
  user.name = name;
  CARILLON_ASSIGN_OR_RETURN(user.groups, GroupsOf(name, user.gid));
  return user;
}

Result<ProcessUser> LookUpOwnUser() {
  const uid_t uid = geteuid();
  return EntryOf(fmt::format("user with the id {}", uid),
                 [uid](passwd* entry, char* buffer, size_t size, passwd** found) {
                   return getpwuid_r(uid, entry, buffer, size, found);
                 });
}

HostUsers::HostUsers(const std::vector<std::string>& allowed, LookUp look_up, LookUpOwn look_up_own)
    : look_up_(look_up),
      look_up_own_(look_up_own),
      own_(Error{ErrorCode::kUnavailable, "the executor's own user was not looked up yet"}) {
  for (const std::string& name : allowed) {
    found_.emplace(
        name, Error{ErrorCode::kUnavailable, fmt::format("user {} was not looked up yet", name)});
  }
}

Result<ProcessUser> HostUsers::Find(const std::string& name) {
  MutexLock lock(mu_);
  const auto found = found_.find(name);
  if (found != found_.end()) return found->second;
  return {ErrorCode::kDenied,
          fmt::format("executor.run_as_allowed of this executor does not name the user {}", name)};
}

Result<ProcessUser> HostUsers::Own() {
  MutexLock lock(mu_);
  return own_;
}

void HostUsers::TellSilence(const std::string& name, const Result<ProcessUser>& found) {
  if (!IsSilent(found)) {
    if (silent_.erase(name) > 0) log::Info("executor", "the user database answers again");
  } else if (silent_.insert(name).second) {
    log::Warn("executor",
              "the user database does not answer: {}; processes of a user who was not "
              "found yet do not start",
              found.error().message);
  }
}

SteadyTime HostUsers::Step(SteadyTime now) {
  Result<ProcessUser> own = look_up_own_();
  TellSilence("", own);
  std::vector<std::string> names;
  Duration again = kUsersLookEvery;
  {
    MutexLock lock(mu_);
    LearnOwn(std::move(own), own_);
    if (!own_.ok()) again = kLookAgain;
    for (const auto& [name, user] : found_) names.push_back(name);
  }
  for (const std::string& name : names) {
    Result<ProcessUser> user = look_up_(name);
    TellSilence(name, user);
    if (user.ok() && user->uid == 0 && name != "root") {
      user = {
          ErrorCode::kDenied,
          fmt::format("the user {} is root on this executor; only the name root may stand for it",
                      name)};
    }
    MutexLock lock(mu_);
    Learn(std::move(user), found_.at(name));
    if (IsSilent(found_.at(name))) again = kLookAgain;
  }
  return now + again;
}

HostCheck CheckHome(const Result<ProcessUser>& own) {
  HostCheck check{.name = "home"};
  if (IsSilent(own)) {
    check.state = HostCheckState::kNo;
    check.detail = fmt::format("No process starts: {}.", own.error().message);
    check.cure = "Look why the user database of the host does not answer; it is asked again.";
    return check;
  }
  if (!own.ok()) {
    check.state = HostCheckState::kPartly;
    check.detail = fmt::format("Processes have no HOME: {}.", own.error().message);
    check.cure = "Give the user of the executor an entry in the user database of the host.";
    return check;
  }
  check.detail = own->home;
  struct stat found {};
  const bool is_none = stat(own->home.c_str(), &found) == 0 ? !S_ISDIR(found.st_mode)
                                                            : errno == ENOENT || errno == ENOTDIR;
  if (!is_none) return check;
  check.state = HostCheckState::kPartly;
  check.detail = fmt::format(
      "HOME is {}, which is no directory. Jobs whose working_directory begins with ~ fail, as "
      "those of an imported crontab do.",
      own->home.empty() ? "empty" : own->home);
  check.cure =
      fmt::format("Create the directory for user {}, or give that user another one.", own->name);
  return check;
}

HostCheck CheckRunAs(const std::optional<HostCheck>& warden,
                     const std::vector<std::string>& allowed, ProcessUsers& users) {
  HostCheck check{.name = "run_as"};
  const auto say = [&check](HostCheckState state, std::string detail, std::string cure) {
    check.state = state;
    check.detail = std::move(detail);
    check.cure = std::move(cure);
    return check;
  };
  if (allowed.empty()) {
    return say(HostCheckState::kNo, "No job may run as another user.",
               "Run the executor as root, and name the users in executor.run_as_allowed.");
  }
  if (!warden) {
    return say(
        HostCheckState::kNo, "The warden was started without --run-directory.",
        "Add that flag to the warden's own unit, or restart the executor when nothing runs on it.");
  }
  if (warden->state == HostCheckState::kNo) return *warden;
  for (const std::string& name : allowed) {
    const auto found = users.Find(name);
    if (found.ok()) continue;
    return say(HostCheckState::kPartly, fmt::format("As {}: {}.", name, found.error().message),
               "Create the user, or remove it from executor.run_as_allowed.");
  }
  check.detail = fmt::format("As {}.", fmt::join(allowed, ", "));
  return check;
}

}  // namespace carillon::executor
