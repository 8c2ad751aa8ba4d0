#include "common/process/process.h"

#include <unistd.h>

#include <array>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/config/config_table.h"

namespace carillon::process {
namespace {

constexpr size_t kSecretBytesMax = 4096;

}  // namespace

sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  // nohup ignores it so that the end of a terminal does not end the server.
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

bool TakeStopSignal(const sigset_t& signals, timespec timeout) {
  return sigtimedwait(&signals, nullptr, &timeout) > 0;
}

void ConfigureLog(const config::Config& config) {
  const std::string& level = config.Text("log.level");
  log::Options options{.file = config.Text("log.file"),
                       .file_bytes_max = static_cast<size_t>(config.Integer("log.file_bytes_max")),
                       .files_max = static_cast<size_t>(config.Integer("log.files_max"))};
  if (level == "debug") options.level = log::Level::kDebug;
  if (level == "warn") options.level = log::Level::kWarn;
  if (level == "error") options.level = log::Level::kError;
  if (level == "off") options.level = log::Level::kOff;
  log::Configure(options);
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

std::map<std::string, std::string> SettingsOf(const config::Config& config) {
  std::map<std::string, std::string> settings;
  for (const config::Setting& setting : config::SettingTable()) {
    settings[std::string(setting.name)] = config.Get(setting.name).text;
  }
  return settings;
}

Result<std::string> ReadSecretFile(const std::string& path, std::string_view setting) {
  const std::string what = std::string(setting) + ": " + (path.empty() ? "no file" : path);
  std::ifstream in(path, std::ios::binary);
  if (path.empty() || !in) return Error{ErrorCode::kUnavailable, what + " cannot be read"};
  std::string text(kSecretBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) return Error{ErrorCode::kUnavailable, what + " cannot be read"};
  const bool large = text.size() > kSecretBytesMax;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty() || large || text.find_first_of(std::string_view("\0\n\r", 3)) != text.npos) {
    return Error{ErrorCode::kInvalid, what + " must hold one line of at most 4 KiB"};
  }
  return text;
}

}  // namespace carillon::process
