#include "common/config/config_table.h"

#include <iterator>

#include "common/config/executor_settings.h"

namespace carillon::config {
namespace {

constexpr int64_t kPortMax = 65'535;
constexpr int64_t kGiB = kMiB * kKiB;

using enum SettingType;

std::vector<Setting> MakeTable() {
  return {
      {.name = "data_dir",
       .fallback = "~/.local/share/carillon",
       .least = 1,
       .help = "Directory of the spool, tokens, `runtime.json`, and the database of "
               "standalone; for one process at a time. A leading `~` is `$HOME`."},
      {.name = "retention_days",
       .type = kInteger,
       .fallback = "14",
       .least = 1,
       .most = 3650,
       .help = "Days for which runs, their output and gaps are kept.",
       .live = true},
      {.name = "keep_last_runs",
       .type = kInteger,
       .fallback = "3",
       .most = 20,
       .help =
           "Finished runs of each job that stay when they are older than `retention_days`, with "
           "their result but without their log. 0 = none.",
       .live = true},

      {.name = "rest.listen",
       .type = kAddress,
       .fallback = "127.0.0.1",
       .help = "Address of the REST API."},
      {.name = "rest.port",
       .type = kInteger,
       .fallback = "8640",
       .most = kPortMax,
       .help = "Port of the REST API; 0 = any free one."},
      {.name = "rest.advertise",
       .fallback = "",
       .help = "Host name or address at which clients reach it; a TLS certificate must be "
               "valid for it. Empty = `rest.listen`."},
      {.name = "rest.public_url",
       .fallback = "",
       .help = "URL at which people reach the console, as in links of notices and the set-up link, "
               "e.g. https://ops.example.org/carillon behind a proxy. Empty = the member's own."},
      {.name = "rest.tls_certificate_file",
       .fallback = "",
       .help = "PEM file with the certificate chain. With it, the API and the console speak "
               "only TLS (1.2 or later). The file is checked every 5 seconds; a new "
               "certificate needs no restart."},
      {.name = "rest.tls_key_file",
       .fallback = "",
       .help = "PEM file with its private key, without a pass phrase."},
      {.name = "rest.allow_beyond_loopback",
       .type = kFlag,
       .fallback = "false",
       .help = "Lets the REST API listen beyond loopback without TLS, so that tokens cross the "
               "network unencrypted."},
      {.name = "rest.behind_tls",
       .type = kFlag,
       .fallback = "false",
       .help =
           "A proxy terminates TLS: cookies are `Secure` and browsers are told to use only https."},
      {.name = "rest.trusted_proxies",
       .type = kNetworks,
       .fallback = "",
       .help = "Addresses and networks of [reverse proxies](security.md#behind-a-proxy), whose "
               "`X-Forwarded-For` names the client for the limits per address, the lock-out "
               "after wrong passwords and the audit log."},
      {.name = "rest.account_rate",
       .type = kInteger,
       .fallback = "200",
       .least = 0,
       .most = 1'000'000,
       .help = "Requests per second of one account, with bursts of 5 seconds' worth; 0 = no "
               "limit."},
      {.name = "rest.address_rate",
       .type = kInteger,
       .fallback = "20",
       .least = 0,
       .most = 1'000'000,
       .help = "The same for one address without a valid token."},
      {.name = "rest.address_connections",
       .type = kInteger,
       .fallback = "128",
       .least = 0,
       .most = 1024,
       .help = "Concurrent connections of one address (IPv6: of one /64), of 1,024 in all; 0 = "
               "no limit."},
      {.name = "rest.workers",
       .type = kInteger,
       .fallback = "8",
       .least = 1,
       .most = 256,
       .help = "Requests handled concurrently."},

      {.name = "ops.listen",
       .type = kAddress,
       .fallback = "127.0.0.1",
       .help = "Address of the ops port, which needs no token."},
      {.name = "ops.port",
       .type = kInteger,
       .fallback = "8642",
       .most = kPortMax,
       .help = "The ops port; 0 = any free one."},
      {.name = "ops.allow_beyond_loopback",
       .type = kFlag,
       .fallback = "false",
       .help = "Lets the ops port listen beyond loopback, so that anyone who can reach it can "
               "read the metrics."},

      {.name = "log.level",
       .type = kChoice,
       .fallback = "info",
       .choices = "debug|info|warn|error|off",
       .help = "Messages below this level are not logged.",
       .live = true},
      {.name = "log.format",
       .type = kChoice,
       .fallback = "text",
       .choices = "text|json",
       .help = "Plain text, or one JSON object per line: `time`, `level`, `room`, `message`."},
      {.name = "log.file", .fallback = "", .help = "Rotating log file; empty = standard error."},
      {.name = "log.file_bytes_max",
       .type = kInteger,
       .fallback = "67108864",
       .least = 64 * kKiB,
       .most = 4 * kGiB,
       .help = "Size at which the log file is rotated."},
      {.name = "log.files_max",
       .type = kInteger,
       .fallback = "5",
       .least = 1,
       .most = 1000,
       .help = "Log files kept, the current one included."},

      {.name = "store.host",
       .fallback = "127.0.0.1",
       .least = 1,
       .help = "Host of the cluster's MySQL or MariaDB; standalone starts its own."},
      {.name = "store.port",
       .type = kInteger,
       .fallback = "3306",
       .least = 1,
       .most = kPortMax,
       .help = "Its port."},
      {.name = "store.database",
       .fallback = "carillon",
       .least = 1,
       .help = "Its database; created when missing, if the user has the privilege."},
      {.name = "store.user",
       .fallback = "carillon",
       .least = 1,
       .help = "User that connects to it."},
      {.name = "store.password_file",
       .fallback = "",
       .help = "File with that user's password on one line."},
      {.name = "store.tls",
       .type = kChoice,
       .fallback = "off",
       .choices = "off|required|verify",
       .help = "`required` encrypts without verifying the server; `verify` requires a certificate "
               "for `store.host` that is signed by `store.tls_ca_file`."},
      {.name = "store.tls_ca_file",
       .fallback = "",
       .help = "PEM file with the CA certificate of the database."},
      {.name = "store.connections",
       .type = kInteger,
       .fallback = "8",
       .least = 2,
       .most = 256,
       .help = "Connections of the REST API to the database; the loops have their own."},
      {.name = "store.buffer_pool_mib",
       .type = kInteger,
       .fallback = "0",
       .most = 1'048'576,
       .help = "Buffer pool of the private database of standalone, in MiB, at least 16; 0 = an "
               "eighth of the memory, 128 to 1,024. Its redo log is as large, 128 to 512."},

      {.name = "kafka.bootstrap",
       .fallback = "127.0.0.1:9092",
       .least = 1,
       .help = "Brokers of the cluster, `host:port,host:port`."},
      {.name = "kafka.tls",
       .type = kChoice,
       .fallback = "off",
       .choices = "off|required|verify",
       .help = "`required` encrypts without verifying the brokers; `verify` requires trusted "
               "certificates for their names."},
      {.name = "kafka.tls_ca_file",
       .fallback = "",
       .help = "PEM file with the CA certificate of the brokers; empty = the system's list."},
      {.name = "kafka.tls_certificate_file",
       .fallback = "",
       .help = "PEM file with the client certificate."},
      {.name = "kafka.tls_key_file",
       .fallback = "",
       .help = "PEM file with its private key, without a pass phrase."},
      {.name = "kafka.sasl",
       .type = kChoice,
       .fallback = "off",
       .choices = "off|plain|scram-sha-256|scram-sha-512",
       .help = "How this process signs in to the brokers; `plain` needs TLS. SCRAM with Kafka "
               "4 needs [librdkafka 2.6.1](security.md#tls)."},
      {.name = "kafka.user", .fallback = "", .help = "User that signs in to them."},
      {.name = "kafka.password_file",
       .fallback = "",
       .help = "File with that user's password on one line."},
      {.name = "kafka.partitions",
       .type = kInteger,
       .fallback = "8",
       .least = 1,
       .most = 1000,
       .help = "Partitions of each topic; the same in every process. Missing topics are "
               "created."},
      {.name = "kafka.replicas",
       .type = kInteger,
       .fallback = "1",
       .least = 1,
       .most = 10,
       .help = "Replicas of each topic: 3 in production."},
      {.name = "dead_letters.topic",
       .fallback = "",
       .help = "Topic to which the scheduler publishes "
               "[dead letters](operations.md#dead-letters-on-kafka); the same on all members. "
               "Empty = none. Not in standalone."},
      {.name = "events.kafka.topics",
       .fallback = "",
       .help = "Topics whose records are events, each with a namespace, such as "
               "`orders=sales, stock`; the same on all members. Without a namespace: `default`. "
               "Not in standalone."},

      {.name = "bus.format",
       .type = kChoice,
       .fallback = "binary",
       .choices = "binary|json",
       .help = "Format in which this process writes tasks and results; both are always read. "
               "`json` is readable, at the cost of throughput.",
       .live = true},

      {.name = "zookeeper.connect",
       .fallback = "127.0.0.1:2181/carillon",
       .least = 1,
       .help = "Ensemble of the cluster, `host:port,host:port/root`."},
      {.name = "zookeeper.session_timeout_ms",
       .type = kInteger,
       .fallback = "6000",
       .least = 1'000,
       .most = 60'000,
       .help = "Silence after which a member is considered gone."},
      {.name = "zookeeper.digest_file",
       .fallback = "",
       .help = "File with `user:password`; only that user can then access Carillon's nodes. "
               "Empty = anyone who reaches ZooKeeper can change them."},

      {.name = "secrets.key_file",
       .fallback = "",
       .help = "File (mode 0600) with the keys for [secrets](security.md#secrets), 32 bytes "
               "per line as hex or base64, the same on every member; a changed file needs no "
               "restart. Empty = the variable `CARILLON_SECRETS_KEY`; standalone without "
               "either creates `secrets.key` in its data directory."},

      {.name = "link.listen",
       .type = kAddress,
       .fallback = "127.0.0.1",
       .help = "Address of a scheduler's control link, to which executors connect."},
      {.name = "link.port",
       .type = kInteger,
       .fallback = "8641",
       .most = kPortMax,
       .help = "Its port; 0 = any free one."},
      {.name = "link.advertise",
       .fallback = "",
       .help = "Host name or address at which executors reach it; empty = `link.listen`, of "
               "standalone the host of `standalone.executors`."},
      {.name = "link.allow_beyond_loopback",
       .type = kFlag,
       .fallback = "false",
       .help = "Lets the control link listen beyond loopback without TLS."},
      {.name = "link.tls",
       .type = kChoice,
       .fallback = "off",
       .choices = "off|mutual",
       .help = "`mutual`: members and executors authenticate each other with certificates of "
               "one authority; the same everywhere. Replaces the join secret."},
      {.name = "link.tls_ca_file",
       .fallback = "",
       .help = "Scheduler: PEM file with the certificate of that authority (`carillon executor "
               "authority`), the same on all members."},
      {.name = "link.tls_ca_key_file",
       .fallback = "",
       .help = "Scheduler: PEM file with the authority's private key."},
      {.name = "link.join_token_file",
       .fallback = "",
       .help = "Executor: file with the join token for its first certificate (`carillon "
               "executor join-token`)."},
      {.name = "link.join_secret_file",
       .fallback = "",
       .help = "File with the join secret of executors, the same everywhere."},

      {.name = "link.members",
       .fallback = "",
       .help = "Executor: control links, `host:port,host:port`, of a scheduler without Kafka "
               "and ZooKeeper (`standalone.executors`), which then carry all messages and need "
               "`link.tls: mutual`. Empty = ZooKeeper lists the members."},
      {.name = "standalone.executors",
       .fallback = "",
       .help = "Standalone: `host:port` at which executors of other hosts connect, always with TLS "
               "(`--executors`); port 0 = any free one. Empty = jobs run on this host only."},
      {.name = "upgrade.finish",
       .type = kChoice,
       .fallback = "auto",
       .choices = "auto|by_hand",
       .help = "Standalone: `auto` finishes an upgrade at the start of the new version, after "
               "which the previous one refuses the store; `by_hand`: `carillon system upgrade "
               "finish`."},

      {.name = "scheduler.id",
       .type = kIdentity,
       .fallback = "scheduler-1",
       .help = "Name of this member; unique in the cluster."},
      {.name = "scheduler.segments",
       .type = kInteger,
       .fallback = "64",
       .least = 1,
       .most = 4096,
       .help = "Segments the jobs are divided into. Fixed when the store is created."},
      {.name = "scheduler.horizon_s",
       .type = kInteger,
       .fallback = "30",
       .least = 1,
       .most = 600,
       .help = "How far ahead fires become planned runs, in seconds.",
       .live = true},
      {.name = "scheduler.wheel_capacity",
       .type = kInteger,
       .fallback = "400000",
       .least = 1'000,
       .most = 10'000'000,
       .help = "Limit of planned runs in memory; planning stops at three quarters of it."},
      {.name = "scheduler.dispatch_timeout_ms",
       .type = kInteger,
       .fallback = "5000",
       .least = 100,
       .most = 60'000,
       .help = "A published run that nobody claimed is published again after this time.",
       .live = true},
      {.name = "scheduler.lease_ms",
       .type = kInteger,
       .fallback = "20000",
       .least = 3'300,
       .most = 600'000,
       .help = "Time for which a run may continue without contact to its owner; at least three "
               "heartbeats and 3 s."},
      {.name = "scheduler.heartbeat_ms",
       .type = kInteger,
       .fallback = "2000",
       .least = 100,
       .most = 30'000,
       .help = "Time between heartbeats of an executor."},
      {.name = "scheduler.executor_lost_ms",
       .type = kInteger,
       .fallback = "10000",
       .least = 500,
       .most = 300'000,
       .help =
           "An executor that is silent for this long gets no new runs; at least three heartbeats."},
      {.name = "scheduler.clock_offset_max_ms",
       .type = kInteger,
       .fallback = "500",
       .least = 10,
       .most = 10'000,
       .help =
           "A member whose clock differs by more than this from the database's owns no segments."},
      {.name = "overload.levels",
       .type = kLevels,
       .fallback = "",
       .help =
           "Levels of [overload](operations.md#overload): from which waiting time (seconds) of "
           "due runs on, those of which priorities are shed, e.g. `10:20, 60:60`. Empty = none.",
       .live = true},

      {.name = "notify.webhook_url",
       .fallback = "",
       .help = "URL to which notifications are posted. Must be `https:` beyond "
               "loopback, unless `notify.allow_plain`."},
      {.name = "notify.webhook_secret_file",
       .fallback = "",
       .help = "File with the secret that signs them, `whsec_…`, and on a second line the "
               "previous one during a rotation. Read for each delivery."},
      {.name = "notify.proxy",
       .fallback = "",
       .help = "Proxy for webhooks beyond loopback, `http://host:port` or `https://host:port`; "
               "empty = none. The environment's is not read."},
      {.name = "notify.mail_proxy",
       .fallback = "",
       .help = "The same for mails; it must allow CONNECT to the port of `notify.mail_server`."},
      {.name = "notify.mail_server",
       .fallback = "",
       .help = "SMTP server for notification mails, `host:port`."},
      {.name = "notify.mail_tls",
       .type = kChoice,
       .fallback = "starttls",
       .choices = "off|starttls|tls",
       .help =
           "TLS mode of that connection; `off` only for loopback, or with `notify.allow_plain`."},
      {.name = "notify.mail_user",
       .fallback = "",
       .help = "User that signs in to it; empty = no sign-in."},
      {.name = "notify.mail_password_file",
       .fallback = "",
       .help = "File with that user's password on one line. Read for each delivery."},
      {.name = "notify.mail_from", .fallback = "", .help = "Sender address of mails."},
      {.name = "notify.mail_to",
       .fallback = "",
       .help = "Recipients of mails, `a@b.example,c@b.example`, for jobs that name none."},
      {.name = "notify.tls_ca_file",
       .fallback = "",
       .help = "PEM file with the CA certificates of both servers; empty = the system's list."},
      {.name = "notify.allow_plain",
       .type = kFlag,
       .fallback = "false",
       .help = "Lets notifications, and the mail password, cross the network without TLS."},
      {.name = "notify.on",
       .fallback = "failed,missed,late,recovered,job_paused,shed,approval",
       .help = "Events that are notified when a job does not choose."},
      {.name = "notify.late_after_s",
       .type = kInteger,
       .fallback = "300",
       .least = 1,
       .most = 604'800,
       .help =
           "How late a run may start before it is reported as late, when its job does not say."},
      {.name = "notify.repeat_after_s",
       .type = kInteger,
       .fallback = "3600",
       .most = 604'800,
       .help = "At most one notification per job and event in this time; the next one says how "
               "many were held back. 0 = no limit. A failure after a recovery is sent after a "
               "minute."},
  };
}

}  // namespace

const std::vector<Setting>& SettingTable() {
  static const std::vector<Setting> table = [] {
    std::vector<Setting> all = MakeTable();
    std::vector<Setting> of_executor = ExecutorSettings();
    all.insert(all.end(), std::make_move_iterator(of_executor.begin()),
               std::make_move_iterator(of_executor.end()));
    return all;
  }();
  return table;
}

const Setting* FindSetting(std::string_view name) {
  for (const Setting& setting : SettingTable()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::string EnvironmentName(std::string_view setting) {
  std::string name = "CARILLON_";
  for (char c : setting) {
    name += c == '.' ? '_' : (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

}  // namespace carillon::config
