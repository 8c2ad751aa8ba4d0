#include "common/config/config_table.h"

namespace carillon::config {
namespace {

constexpr int64_t kPortMax = 65'535;
constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = kKiB * kKiB;
constexpr int64_t kGiB = kMiB * kKiB;

using enum SettingType;

std::vector<Setting> MakeTable() {
  return {
      {.name = "data_dir",
       .fallback = "~/.local/share/carillon",
       .least = 1,
       .help = "Directory of everything a process keeps: spool, tokens, runtime.json, and the "
               "database of standalone. One process at a time; a leading `~` is `$HOME`."},
      {.name = "retention_days",
       .type = kInteger,
       .fallback = "14",
       .least = 1,
       .most = 3650,
       .help = "Whole days that runs, their output and gaps are kept.",
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
       .help = "Host name or address at which clients reach it, told in `runtime.json` and printed "
               "links; a TLS certificate has to be for it. Empty = `rest.listen`."},
      {.name = "rest.tls_certificate_file",
       .fallback = "",
       .help = "PEM file with the certificate of the REST API, followed by those that signed it. "
               "Set: the API and the console speak TLS (1.2 at least) and nothing else. The file "
               "is looked at every 5 seconds: a new one needs no restart."},
      {.name = "rest.tls_key_file",
       .fallback = "",
       .help = "PEM file with its private key, without a pass phrase; set with "
               "`rest.tls_certificate_file`."},
      {.name = "rest.allow_beyond_loopback",
       .type = kFlag,
       .fallback = "false",
       .help = "Lets the REST API listen on other addresses than loopback without TLS: tokens "
               "then cross the network in the clear."},
      {.name = "rest.behind_tls",
       .type = kFlag,
       .fallback = "false",
       .help = "What is in front of the REST API ends TLS: cookies are `Secure` and browsers are "
               "told to stay with https, as with `rest.tls_certificate_file`."},
      {.name = "rest.trusted_proxies",
       .type = kNetworks,
       .fallback = "",
       .help =
           "Addresses and networks of reverse proxies. Of a connection from there the client is "
           "who `X-Forwarded-For` says, for the limits of an address, the lock-out after wrong "
           "passwords and the audit; connections from there are not counted by address."},
      {.name = "rest.account_rate",
       .type = kInteger,
       .fallback = "200",
       .least = 0,
       .most = 1'000'000,
       .help = "Requests a second of one account, as many as in 5 s at once; 0 = no limit."},
      {.name = "rest.address_rate",
       .type = kInteger,
       .fallback = "20",
       .least = 0,
       .most = 1'000'000,
       .help = "Requests a second of one address that shows no valid token, as many as in 5 s at "
               "once; 0 = no limit."},
      {.name = "rest.address_connections",
       .type = kInteger,
       .fallback = "128",
       .least = 0,
       .most = 1024,
       .help = "Connections of one address, of IPv6 of one /64, at a time, of 1,024 in all; more "
               "are closed at once. 0 = no limit."},
      {.name = "rest.workers",
       .type = kInteger,
       .fallback = "8",
       .least = 1,
       .most = 256,
       .help = "Requests handled at the same time."},

      {.name = "ops.listen",
       .type = kAddress,
       .fallback = "127.0.0.1",
       .help = "Address of the ops port (`/livez`, `/readyz`, `/metrics`), which asks for no "
               "token and changes nothing."},
      {.name = "ops.port",
       .type = kInteger,
       .fallback = "8642",
       .most = kPortMax,
       .help = "The ops port; 0 = any free one."},
      {.name = "ops.allow_beyond_loopback",
       .type = kFlag,
       .fallback = "false",
       .help = "Lets the ops port listen on other addresses than loopback: whoever reaches it "
               "reads the metrics."},

      {.name = "log.level",
       .type = kChoice,
       .fallback = "info",
       .choices = "debug|info|warn|error|off",
       .help = "Lines below this level are not written.",
       .live = true},
      {.name = "log.format",
       .type = kChoice,
       .fallback = "text",
       .choices = "text|json",
       .help = "Lines for people, or a JSON object a line: `time`, `level`, `room`, `message`."},
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
       .help = "Its database; made when the user may and it is missing."},
      {.name = "store.user", .fallback = "carillon", .least = 1, .help = "Who connects to it."},
      {.name = "store.password_file",
       .fallback = "",
       .help = "File with that user's password on one line; empty = none."},
      {.name = "store.tls",
       .type = kChoice,
       .fallback = "off",
       .choices = "off|required|verify",
       .help = "TLS to the database: `required` encrypts and takes whoever answers for the server; "
               "`verify` wants a certificate that `store.tls_ca_file` signed for `store.host`."},
      {.name = "store.tls_ca_file",
       .fallback = "",
       .help = "PEM file of who signed the database's certificate; for `store.tls: verify`."},
      {.name = "store.connections",
       .type = kInteger,
       .fallback = "8",
       .least = 2,
       .most = 256,
       .help = "Connections of the REST API to the database; planning, claims and results have "
               "their own."},
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
       .help = "TLS to the brokers: `required` encrypts and takes whoever answers for them; "
               "`verify` wants certificates for their names that are trusted."},
      {.name = "kafka.tls_ca_file",
       .fallback = "",
       .help = "PEM file of who signed the brokers' certificates, for `kafka.tls: verify`; empty = "
               "the system's own list."},
      {.name = "kafka.tls_certificate_file",
       .fallback = "",
       .help = "PEM file with the certificate that this process shows to the brokers; empty = "
               "none."},
      {.name = "kafka.tls_key_file",
       .fallback = "",
       .help = "PEM file with its private key, without a pass phrase."},
      {.name = "kafka.sasl",
       .type = kChoice,
       .fallback = "off",
       .choices = "off|plain|scram-sha-256|scram-sha-512",
       .help = "How this process signs in to the brokers; `plain` needs TLS. Kafka 4.0 and later "
               "refuse SCRAM from librdkafka before 2.6.1, which Debian 12 has: use `plain` over "
               "TLS with them."},
      {.name = "kafka.user", .fallback = "", .help = "Who signs in to them."},
      {.name = "kafka.password_file",
       .fallback = "",
       .help = "File with that user's password on one line."},
      {.name = "kafka.partitions",
       .type = kInteger,
       .fallback = "8",
       .least = 1,
       .most = 1000,
       .help = "Partitions of each topic; the same in every process. Topics are made when they "
               "are missing, and checked when they exist."},
      {.name = "kafka.replicas",
       .type = kInteger,
       .fallback = "1",
       .least = 1,
       .most = 10,
       .help = "Replicas of each topic: 3 in production."},

      {.name = "bus.format",
       .type = kChoice,
       .fallback = "binary",
       .choices = "binary|json",
       .help = "How this process writes tasks and results: `json` has one in a record, for people "
               "and for programs in other languages, and costs throughput. Both are always read.",
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
       .help = "Silence after which a member is taken for gone."},
      {.name = "zookeeper.digest_file",
       .fallback = "",
       .help = "File with `user:password`: Carillon's nodes are then only that user's. Empty = "
               "anyone who reaches ZooKeeper may change them."},

      {.name = "secrets.key_file",
       .fallback = "",
       .help = "File (mode 0600) with the keys of secrets, 32 bytes a line as hex or base64: the "
               "first seals, all open. The same on every member; a changed file needs no restart. "
               "Empty = the variable `CARILLON_SECRETS_KEY`; standalone without either makes "
               "`secrets.key` in its data directory."},

      {.name = "link.listen",
       .type = kAddress,
       .fallback = "127.0.0.1",
       .help = "Address of a scheduler's control link, which executors dial."},
      {.name = "link.port",
       .type = kInteger,
       .fallback = "8641",
       .most = kPortMax,
       .help = "Its port; 0 = any free one."},
      {.name = "link.advertise",
       .fallback = "",
       .help = "Host name or address at which executors reach it; empty = `link.listen`."},
      {.name = "link.allow_beyond_loopback",
       .type = kFlag,
       .fallback = "false",
       .help = "Lets the control link listen on other addresses than loopback without TLS."},
      {.name = "link.tls",
       .type = kChoice,
       .fallback = "off",
       .choices = "off|mutual",
       .help =
           "`mutual`: members and executors show each other certificates of one authority, each "
           "for its own name; the same everywhere. The join secret is not used then."},
      {.name = "link.tls_ca_file",
       .fallback = "",
       .help = "Of a scheduler with `link.tls: mutual`: PEM file with the certificate of that "
               "authority; `carillon executor authority` makes one. The same on all members."},
      {.name = "link.tls_ca_key_file",
       .fallback = "",
       .help = "Of a scheduler: PEM file with the authority's private key, with which it signs the "
               "certificates of itself and of executors."},
      {.name = "link.join_token_file",
       .fallback = "",
       .help =
           "Of an executor with `link.tls: mutual`: file with the join token that it gets its "
           "first certificate for (`carillon executor join-token`); afterwards it is not read."},
      {.name = "link.join_secret_file",
       .fallback = "",
       .help = "File with the secret that an executor shows to a scheduler; the same everywhere."},

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
       .help = "Planned runs held in memory; planning stops at three quarters of it."},
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
       .help = "How long an executor may run without word from its owner; at least three "
               "heartbeats and the 3 s in which what runs is killed before its end."},
      {.name = "scheduler.heartbeat_ms",
       .type = kInteger,
       .fallback = "2000",
       .least = 100,
       .most = 30'000,
       .help = "Time between heartbeats of an executor, which is told it when it registers."},
      {.name = "scheduler.executor_lost_ms",
       .type = kInteger,
       .fallback = "10000",
       .least = 500,
       .most = 300'000,
       .help = "An executor silent for this long gets nothing new; at least three heartbeats."},
      {.name = "scheduler.clock_offset_max_ms",
       .type = kInteger,
       .fallback = "500",
       .least = 10,
       .most = 10'000,
       .help = "A member whose clock is further than this from the database's owns nothing."},

      {.name = "notify.webhook_url",
       .fallback = "",
       .help = "Where notices are posted, signed as Standard Webhooks has it; empty = nowhere. "
               "`https:` beyond loopback, unless `notify.allow_plain`."},
      {.name = "notify.webhook_secret_file",
       .fallback = "",
       .help = "File with the secret that signs them, `whsec_…`; a second line holds the one of "
               "before while it is rotated. Read for each delivery."},
      {.name = "notify.mail_server",
       .fallback = "",
       .help = "SMTP server that takes notices as mails, `host:port`; empty = none."},
      {.name = "notify.mail_tls",
       .type = kChoice,
       .fallback = "starttls",
       .choices = "off|starttls|tls",
       .help = "How it is spoken to; `off` is for loopback, or with `notify.allow_plain`."},
      {.name = "notify.mail_user",
       .fallback = "",
       .help = "Who signs in to it; empty = nobody does."},
      {.name = "notify.mail_password_file",
       .fallback = "",
       .help = "File with that user's password on one line. Read for each delivery."},
      {.name = "notify.mail_from", .fallback = "", .help = "Address that mails come from."},
      {.name = "notify.mail_to",
       .fallback = "",
       .help = "Addresses that mails go to, `a@b.example,c@b.example`, where a job names none."},
      {.name = "notify.tls_ca_file",
       .fallback = "",
       .help = "PEM file of who signed the certificates of both servers; empty = the system's own "
               "list."},
      {.name = "notify.allow_plain",
       .type = kFlag,
       .fallback = "false",
       .help = "Lets notices, and the mail password, cross the network without TLS."},
      {.name = "notify.on",
       .fallback = "failed,missed,late,recovered",
       .help = "Kinds of notices that are sent where a job does not say: `failed`, `missed`, "
               "`late`, `recovered`."},
      {.name = "notify.late_after_s",
       .type = kInteger,
       .fallback = "300",
       .least = 1,
       .most = 604'800,
       .help = "How late a run may start before that is told, where its job does not say."},
      {.name = "notify.repeat_after_s",
       .type = kInteger,
       .fallback = "3600",
       .most = 604'800,
       .help = "At most one notice of a job and kind in this time; the next one says how many were "
               "held back. 0 = each is sent. A failure after a recovery is told after a minute."},

      {.name = "executor.id",
       .type = kIdentity,
       .fallback = "executor-1",
       .help = "Name of this executor; unique in the cluster."},
      {.name = "executor.slots",
       .type = kInteger,
       .fallback = "0",
       .most = 10'000,
       .help = "Processes at the same time; 0 = four for each core.",
       .live = true},
      {.name = "executor.light_slots",
       .type = kInteger,
       .fallback = "4096",
       .least = 1,
       .most = 100'000,
       .help = "Attempts of in-process job types (`noop`) at the same time."},
      {.name = "executor.output_bytes_max",
       .type = kInteger,
       .fallback = "65536",
       .least = kKiB,
       .most = 64 * kKiB,
       .help = "Output kept of each stream of an attempt: its end.",
       .live = true},
      {.name = "executor.log_bytes_max",
       .type = kInteger,
       .fallback = "16777216",
       .least = 64 * kKiB,
       .most = 1024 * kMiB,
       .help = "Kept of the log of an attempt, from its beginning; a line in it says where it was "
               "cut."},
      {.name = "executor.labels",
       .type = kPairs,
       .fallback = "",
       .help = "Labels this executor registers with, `name=value,…`."},
  };
}

}  // namespace

const std::vector<Setting>& SettingTable() {
  static const std::vector<Setting> table = MakeTable();
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
