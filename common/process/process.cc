#include "common/process/process.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/process/data_directory.h"

namespace carillon::process {
namespace {

constexpr size_t kPemBytesMax = 64u << 10;

log::Level LogLevelOf(const config::Config& config) {
  const std::string& level = config.Text("log.level");
  if (level == "debug") return log::Level::kDebug;
  if (level == "warn") return log::Level::kWarn;
  if (level == "error") return log::Level::kError;
  if (level == "off") return log::Level::kOff;
  return log::Level::kInfo;
}

}  // namespace

sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  // If SIGHUP is ignored (nohup), it stays ignored: closing the terminal must not end the server.
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

int TakeStopSignal(const sigset_t& signals, timespec timeout) {
  return std::max(0, sigtimedwait(&signals, nullptr, &timeout));
}

void ConfigureLog(const config::Config& config) {
  log::Configure({.level = LogLevelOf(config),
                  .form = config.Text("log.format") == "json" ? log::Form::kJson : log::Form::kText,
                  .file = config.Text("log.file"),
                  .file_bytes_max = static_cast<size_t>(config.Integer("log.file_bytes_max")),
                  .files_max = static_cast<size_t>(config.Integer("log.files_max"))});
}

bool Await(const Clock& clock, Duration timeout, const std::function<bool()>& done) {
  const SteadyTime deadline = clock.Steady() + timeout;
  std::mutex mu;
  std::condition_variable never;
  std::unique_lock lock(mu);
  while (!done()) {
    if (clock.Steady() > deadline) return false;
    never.wait_for(lock, 10ms);
  }
  return true;
}

Incarnation NewIncarnation(uint64_t seed) { return Incarnation(fmt::format("{:016x}", seed)); }

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

config::Config ConfigUnder(const ClusterSettings& settings, const config::Config& start) {
  std::vector<std::string> left_out;
  config::Config config = start.With(settings.values, &left_out);
  for (const std::string& what : left_out) log::Warn("config", "live setting left out: {}", what);
  return config;
}

void FollowSettings(LiveSettings& settings, const config::Config& start,
                    std::function<void(const config::Config&)> apply) {
  settings.OnChange([start, apply = std::move(apply)](const ClusterSettings& now) {
    const config::Config config = ConfigUnder(now, start);
    log::SetLevel(LogLevelOf(config));
    std::string values;
    for (const auto& [name, value] : now.values) values += " " + name + "=" + value;
    log::Info("config", "live settings version={}{}", now.version, values);
    apply(config);
  });
}

Result<std::string> ReadSecretLines(const std::string& path, std::string_view setting,
                                    size_t lines_max) {
  const std::string what = std::string(setting) + ": " + (path.empty() ? "no file" : path);
  std::ifstream in(path, std::ios::binary);
  if (path.empty() || !in) return Error{ErrorCode::kUnavailable, what + " cannot be read"};
  std::string text(kSecretBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) return Error{ErrorCode::kUnavailable, what + " cannot be read"};
  const bool large = text.size() > kSecretBytesMax;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const auto line_ends = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  const bool odd = text.find_first_of(std::string_view("\0\r", 2)) != text.npos;
  if (text.empty() || large || odd || line_ends >= lines_max) {
    const std::string lines = lines_max == 1 ? "one line" : std::to_string(lines_max) + " lines";
    return Error{ErrorCode::kInvalid, what + " must hold " + lines + " of at most 4 KiB"};
  }
  return text;
}

Result<std::string> ReadSecretFile(const std::string& path, std::string_view setting) {
  return ReadSecretLines(path, setting, 1);
}

Result<std::string> ReadPemFile(const std::string& path, std::string_view setting) {
  const std::string what = std::string(setting) + ": " + (path.empty() ? "no file" : path);
  std::ifstream in(path, std::ios::binary);
  if (path.empty() || !in) return Error{ErrorCode::kUnavailable, what + " cannot be read"};
  std::string text(kPemBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) return Error{ErrorCode::kUnavailable, what + " cannot be read"};
  if (text.size() > kPemBytesMax || text.find("-----BEGIN ") == text.npos) {
    return Error{ErrorCode::kInvalid, what + " must be PEM of at most 64 KiB"};
  }
  return text;
}

}  // namespace carillon::process
