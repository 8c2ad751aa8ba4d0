#include "common/config/executor_settings.h"

namespace carillon::config {
namespace {

using enum SettingType;

}  // namespace

std::vector<Setting> ExecutorSettings() {
  return {
      {.name = "executor.id",
       .type = kIdentity,
       .fallback = "executor-1",
       .help = "Name of this executor; unique in the cluster."},
      {.name = "executor.slots",
       .type = kInteger,
       .fallback = "0",
       .most = 10'000,
       .help = "Concurrent processes; 0 = four per core.",
       .live = true},
      {.name = "executor.starts_per_second",
       .type = kInteger,
       .fallback = "0",
       .most = 10'000,
       .help = "Most processes started per second, in bursts of a tenth of that. The others "
               "wait here, or go to another executor. 0 = no limit.",
       .live = true},
      {.name = "executor.light_slots",
       .type = kInteger,
       .fallback = "4096",
       .least = 1,
       .most = 100'000,
       .help = "Concurrent attempts of job types without a process (`http`, `noop`)."},
      {.name = "executor.output_bytes_max",
       .type = kInteger,
       .fallback = "65536",
       .least = kKiB,
       .most = 64 * kKiB,
       .help = "Output kept per stream of an attempt: its last bytes.",
       .live = true},
      {.name = "executor.log_bytes_max",
       .type = kInteger,
       .fallback = "16777216",
       .least = 64 * kKiB,
       .most = 1024 * kMiB,
       .help = "Log kept per attempt: its first bytes; a line marks where it was cut."},
      {.name = "executor.labels",
       .type = kPairs,
       .fallback = "",
       .help = "Labels this executor registers with, `name=value,…`."},
      {.name = "executor.http_allow",
       .type = kNetworks,
       .fallback = "",
       .help = "Addresses and networks to which jobs of type `http` may send requests although "
               "they are [denied by default](http.md#addresses)."},
      {.name = "executor.http_deny",
       .type = kNetworks,
       .fallback = "",
       .help = "Addresses and networks to which they may send none; takes precedence over "
               "`http_allow`."},
      {.name = "executor.http_ca_file",
       .fallback = "",
       .help = "PEM file with the CAs that requests trust; empty = those of the system."},
      {.name = "executor.http_proxy",
       .fallback = "",
       .help = "Proxy of these requests, `http://host:port` or `https://host:port`; empty = none. "
               "The variables `http_proxy` and `https_proxy` of the environment are not read."},
      {.name = "executor.no_proxy",
       .fallback = "",
       .help = "What they reach [without it](http.md#proxy), separated by commas: names with those "
               "below them, addresses, networks."},
      {.name = "executor.worker_socket",
       .fallback = "",
       .help = "Unix socket at which programs with handlers attach; empty = `worker.sock` in "
               "the executor's directory. Its directory must let their users enter."},
      {.name = "executor.worker_users",
       .type = kPairs,
       .fallback = "",
       .help = "Applications that the [programs of each user](handlers.md#users) may offer, "
               "`user=app\\|app,…`; `*` is all. The executor's own user may offer all, other "
               "users none."},
      {.name = "executor.run_as_allowed",
       .fallback = "",
       .help = "Users of this host as whom [jobs may run](executor.md#another-user), separated "
               "by commas; the executor must run as root."},
      {.name = "executor.run_as_directory",
       .fallback = "/var/lib/carillon-runs",
       .help = "Directory for the files of such runs, created if missing. Only root may write "
               "to it; all must be able to pass through it."},
      {.name = "executor.container.engine",
       .fallback = "none",
       .help = "Engine of `container` jobs: `none`, `docker`, `podman`, or the absolute path "
               "of a program with their command line. Whoever can use it [can become "
               "root](security.md#container-engines)."},
  };
}

}  // namespace carillon::config
