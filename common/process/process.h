// Parts common to every daemon: signals, log, names, waiting.
#pragma once

#include <signal.h>

#include <ctime>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/live_settings.h"
#include "common/config/load.h"

namespace carillon::process {

// Blocks SIGTERM and SIGINT in this thread and in threads that it starts later. Also blocks SIGHUP,
// unless SIGHUP is ignored (nohup). So only TakeStopSignal receives these signals. Ignores SIGPIPE.
sigset_t BlockStopSignals();
// Waits for one of `signals` and returns it; 0 if none arrives within `timeout`.
int TakeStopSignal(const sigset_t& signals, timespec timeout);

void ConfigureLog(const config::Config& config);

// Polls `done` a hundred times a second; false after `timeout`.
bool Await(const Clock& clock, Duration timeout, const std::function<bool()>& done);

// The incarnation of one start of a daemon. `seed` must differ for each start.
Incarnation NewIncarnation(uint64_t seed);
std::string HostName();

// Returns `start` overridden by the live settings. Values that this version does not accept are
// left out and logged.
config::Config ConfigUnder(const ClusterSettings& settings, const config::Config& start);
// Listens to `settings`: on each newer version, adjusts the log and calls `apply` with the
// resulting configuration.
void FollowSettings(LiveSettings& settings, const config::Config& start,
                    std::function<void(const config::Config&)> apply);

// Returns the single line of the file `path`. Errors name the file by `setting`. kUnavailable:
// unreadable. kInvalid: empty, larger than 4 KiB, or more than one line.
Result<std::string> ReadSecretFile(const std::string& path, std::string_view setting);

// The same for at most `lines_max` lines.
Result<std::string> ReadSecretLines(const std::string& path, std::string_view setting,
                                    size_t lines_max);

// The content of a PEM file of at most 64 KiB; the same errors.
Result<std::string> ReadPemFile(const std::string& path, std::string_view setting);

}  // namespace carillon::process
