#include "common/adapters/mysql/backup/client_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include <fmt/core.h>

extern char** environ;

namespace carillon::mysql {
namespace {

constexpr size_t kComplaintBytesMax = 1000;  // limit of a tool's error output in a message
constexpr std::string_view kPasswordVariable = "MYSQL_PWD=";

std::string PathOf(const std::string& name, const std::string& search) {
  for (size_t at = 0; at <= search.size();) {
    const size_t end = std::min(search.find(':', at), search.size());
    std::string path = search.substr(at, end - at) + "/" + name;
    struct stat info {};
    const bool file = stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    if (end > at && file && access(path.c_str(), X_OK) == 0) return path;
    at = end + 1;
  }
  return "";
}

// True for a program of MariaDB. Resolves links first, because MariaDB installs MySQL's names as
// links to its own programs.
bool IsMariadbs(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  const bool mariadbs =
      real != nullptr && std::string_view(real).find("mariadb") != std::string_view::npos;
  free(real);
  return mariadbs;
}

Result<ClientTool> FindTool(const std::array<const char*, 2>& names, const std::string& search) {
  for (const char* name : names) {
    const std::string path = PathOf(name, search);
    if (path.empty()) continue;
    return ClientTool{path, IsMariadbs(path) ? ToolKind::kMariadb : ToolKind::kMysql};
  }
  return {ErrorCode::kNotFound,
          fmt::format("neither {} nor {} is in PATH: install the database's client programs "
                      "(Debian: mariadb-client)",
                      names[0], names[1])};
}

void AddTlsArguments(const ClientTool& tool, const SessionOptions& session,
                     std::vector<std::string>& command) {
  if (tool.kind == ToolKind::kMysql) {
    const bool verify = session.tls == TlsMode::kVerify;
    command.push_back(session.tls == TlsMode::kOff ? "--ssl-mode=DISABLED"
                      : verify                     ? "--ssl-mode=VERIFY_IDENTITY"
                                                   : "--ssl-mode=REQUIRED");
    if (verify) command.push_back("--ssl-ca=" + session.tls_ca_file);
    return;
  }
  if (session.tls == TlsMode::kOff) return command.push_back("--skip-ssl");
  command.push_back("--ssl");
  if (session.tls == TlsMode::kVerify) {
    command.push_back("--ssl-verify-server-cert");
    command.push_back("--ssl-ca=" + session.tls_ca_file);
  } else {
    command.push_back("--skip-ssl-verify-server-cert");
  }
}

std::vector<std::string> ConnectCommand(const ClientTool& tool, const SessionOptions& session) {
  std::vector<std::string> command = {tool.path, "--no-defaults", "--default-character-set=utf8mb4",
                                      "--user=" + session.user};
  if (session.socket_path.empty()) {
    command.push_back("--protocol=tcp");
    command.push_back("--host=" + session.host);
    command.push_back(fmt::format("--port={}", session.port));
    AddTlsArguments(tool, session, command);
  } else {
    command.push_back("--socket=" + session.socket_path);
  }
  return command;
}

// Returns the environment of this process plus the password. Only the user of a process and root
// can read its environment.
std::vector<std::string> EnvironmentWith(const std::string& password) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(kPasswordVariable)) {
      variables.emplace_back(*variable);
    }
  }
  if (!password.empty()) variables.push_back(std::string(kPasswordVariable) + password);
  return variables;
}

std::vector<char*> PointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<ClientTool> FindDumpTool(const std::string& search) {
  return FindTool({"mariadb-dump", "mysqldump"}, search);
}

Result<ClientTool> FindLoadTool(const std::string& search) {
  return FindTool({"mariadb", "mysql"}, search);
}

std::vector<std::string> DumpCommand(const ClientTool& tool, const SessionOptions& session,
                                     const std::vector<std::string>& tables) {
  std::vector<std::string> command = ConnectCommand(tool, session);
  for (const char* option : {"--single-transaction", "--quick", "--hex-blob", "--skip-triggers",
                             "--no-tablespaces", "--max-allowed-packet=1G"}) {
    command.emplace_back(option);
  }
  if (tool.kind == ToolKind::kMysql) {
    command.emplace_back("--set-gtid-purged=OFF");
    command.emplace_back("--column-statistics=0");
  }
  command.push_back(session.database);
  command.insert(command.end(), tables.begin(), tables.end());
  return command;
}

std::vector<std::string> LoadCommand(const ClientTool& tool, const SessionOptions& session) {
  std::vector<std::string> command = ConnectCommand(tool, session);
  command.emplace_back("--max-allowed-packet=1G");
  command.push_back("--database=" + session.database);
  return command;
}

Result<std::unique_ptr<ToolRun>> ToolRun::Start(const std::vector<std::string>& command,
                                                const std::string& password, Streams streams) {
  const int complaints = memfd_create("complaints", MFD_CLOEXEC);
  if (complaints < 0) return {ErrorCode::kUnavailable, "memfd_create failed"};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const auto& [fd, number] : {std::pair(streams.in, 0), std::pair(streams.out, 1)}) {
    if (fd < 0) {
      posix_spawn_file_actions_addopen(&files, number, "/dev/null", O_RDWR, 0);
    } else {
      posix_spawn_file_actions_adddup2(&files, fd, number);
    }
  }
  posix_spawn_file_actions_adddup2(&files, complaints, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Resets SIGPIPE as well, so that a dump ends when nobody reads it any more.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const std::vector<std::string> variables = EnvironmentWith(password);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, command[0].c_str(), &files, &attributes,
                                PointersTo(command).data(), PointersTo(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  std::unique_ptr<ToolRun> run(new ToolRun(command[0], error == 0 ? pid : 0, complaints));
  if (error == 0) return run;
  return {ErrorCode::kUnavailable, "cannot start " + command[0] + ": " + std::strerror(error)};
}

ToolRun::~ToolRun() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(complaints_);
}

Status ToolRun::Finish() {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = waitpid(pid_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  pid_ = 0;
  if (waited > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFSIGNALED(status)
                              ? fmt::format("was ended by signal {}", WTERMSIG(status))
                              : fmt::format("ended with {}", WEXITSTATUS(status));
  return {ErrorCode::kUnavailable, fmt::format("{} {}: {}", name_, how, Complaints())};
}

std::string ToolRun::Complaints() const {
  std::string text(kComplaintBytesMax, '\0');
  const ssize_t n = pread(complaints_, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace carillon::mysql
