// The payloads of the bus as bytes and back. Protobuf (proto/carillon/v1/task.proto) stays in here.
//
// Errors   Decode: kCorrupt for bytes that are neither a bundle nor JSON, an id that does not
//          parse, a number out of its range, a result without a claim token, a bundle above
//          kBundleTasksMax. Never throws, never reads out of bounds.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job.h"
#include "common/domain/run_state.h"
#include "common/domain/secret_text.h"

namespace carillon {

inline constexpr size_t kBundleTasksMax = 256;

// One attempt to be claimed and run: a task of docs/protocol.md.
struct TaskMessage {
  RunKey key;
  JobId job_id;
  JobNo job_no;
  SegmentId segment;
  int attempt = 1;
  int64_t def_version = 0;
  MemberId member;  // whom to claim from
  WallTime due;
  WallTime created;  // when it was published
  JobType type = JobType::kShell;
  std::string command;  // templates already rendered
  std::map<std::string, std::string> env;
  SecretVariables secret_env = {};  // the variables that are not in env
  int64_t timeout_s = 3600;
  int64_t kill_grace_s = 10;
  int64_t retry_count = 0;
  int64_t retry_interval_s = 60;
  int priority = 0;
  OverlapPolicy overlap = OverlapPolicy::kAllow;
  OnLost on_lost = OnLost::kRetry;
  uint32_t shard_total = 1;
  std::string trace_id = {};  // of the request that made the run; empty = the run's own

  bool operator==(const TaskMessage&) const = default;
};

// How records are written. Whoever reads knows both, by the first byte.
//   kBinary  a bundle: many tasks or results in a record
//   kJson    one task or result in a record: Protobuf's own JSON, with the field names of the
//            .proto; 64-bit numbers are strings, `output` is base64
enum class BusFormat { kBinary, kJson };
// "binary", "json"; binary for anything else.
BusFormat BusFormatOf(std::string_view name);
inline constexpr size_t TasksPerRecord(BusFormat format) {
  return format == BusFormat::kJson ? 1 : kBundleTasksMax;
}

// At most TasksPerRecord(format), and at least one as JSON.
std::string EncodeTasks(const std::vector<TaskMessage>& tasks,
                        BusFormat format = BusFormat::kBinary);
Result<std::vector<TaskMessage>> DecodeTasks(std::string_view bytes);

struct ResultMessage {
  ResultReport report;
  JobId job_id;
};

std::string EncodeResults(const std::vector<ResultMessage>& results,
                          BusFormat format = BusFormat::kBinary);
// With `unreadable`, a result of a bundle that cannot be read is
// left out and told there: an executor bundles the same neighbours
// again, which have done nothing. Without it, it spoils the record.
// With `wanted`, a result of a segment for which it is false is left out without being decoded, so
// that it is neither paid for nor judged here.
Result<std::vector<ResultMessage>> DecodeResults(std::string_view bytes,
                                                 std::vector<Error>* unreadable = nullptr,
                                                 const std::function<bool(SegmentId)>& wanted = {});

}  // namespace carillon
