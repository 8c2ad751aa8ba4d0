// Common parts of every daemon: signals, log, names, waiting.
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

// Blocks SIGTERM, SIGINT and, unless it is ignored (nohup), SIGHUP in this thread and all it will
// start; TakeStopSignal takes them. SIGPIPE is ignored.
sigset_t BlockStopSignals();
// The one that came within `timeout`; 0 when none did.
int TakeStopSignal(const sigset_t& signals, timespec timeout);

void ConfigureLog(const config::Config& config);

// Asks `done` a hundred times a second; false after `timeout`.
bool Await(const Clock& clock, Duration timeout, const std::function<bool()>& done);

// Of one start of a daemon: `seed` is another one for each.
Incarnation NewIncarnation(uint64_t seed);
std::string HostName();

// `start` under the live settings. What they hold that this version does not take is logged.
config::Config ConfigUnder(const ClusterSettings& settings, const config::Config& start);
// With each newer version of the settings: adjusts the log and calls `apply` with what is in force,
// as a listener of LiveSettings.
void FollowSettings(LiveSettings& settings, const config::Config& start,
                    std::function<void(const config::Config&)> apply);

// The one line of the file `path`; `setting` names it in errors. kUnavailable: cannot be read.
// kInvalid: empty, larger than 4 KiB, or more than a line.
Result<std::string> ReadSecretFile(const std::string& path, std::string_view setting);

// Likewise, of at most `lines_max` lines.
Result<std::string> ReadSecretLines(const std::string& path, std::string_view setting,
                                    size_t lines_max);

// The whole of a PEM file of at most 64 KiB; errors likewise.
Result<std::string> ReadPemFile(const std::string& path, std::string_view setting);

}  // namespace carillon::process
