// Encodes and decodes the payloads of the bus. Protobuf (proto/carillon/v1/task.proto) is used only
// in this folder.
//
// Errors   Decode: kCorrupt for bytes that are neither a bundle nor JSON, an invalid id, a number
//          out of its range, a result without a claim token, or a bundle above kBundleTasksMax.
//          Never throws, never reads out of bounds.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/job.h"
#include "common/domain/run/run_state.h"
#include "common/domain/secret_text.h"

namespace carillon {

inline constexpr size_t kBundleTasksMax = 256;

// The function to call.
struct HandlerCall {
  std::string name;  // "app/name"
  std::string parameters_json =
      "{}";  // an object of texts, numbers and booleans; <= kHandlerParametersBytesMax

  bool operator==(const HandlerCall&) const = default;
};
inline constexpr size_t kHandlerParametersBytesMax = 256u << 10;

// One attempt to claim and run: a task of docs/protocol.md.
struct TaskMessage {
  RunKey key;
  JobId job_id;
  JobNo job_no;
  SegmentId segment;
  int attempt = 1;
  int64_t def_version = 0;
  MemberId member;  // the member to claim from
  WallTime due;
  WallTime created;  // time of publication
  JobType type = JobType::kShell;
  std::string command;  // templates are already rendered; of a script: its text
  std::optional<Interpreter> interpreter = {};        // of a script
  std::vector<std::string> args = {};                 // of a script
  std::optional<HttpCall> http = {};                  // of an http job
  std::optional<HandlerCall> handler = {};            // of a handler job
  std::optional<ContainerDefinition> container = {};  // of a container job, rendered
  std::optional<Limits> limits = {};                  // of a process
  std::string run_as = {};                            // likewise; "" = the executor's own user
  std::string working_directory = {};                 // likewise; as in JobDefinition
  std::string output_encoding = {};                   // likewise, also of a container
  std::map<std::string, std::string> env;
  SecretVariables secret_env = {};  // variables with secrets, which are not in env
  int64_t timeout_s = 3600;
  int64_t kill_grace_s = 10;
  int64_t retry_count = 0;
  int64_t retry_interval_s = 60;
  int priority = 0;
  OverlapPolicy overlap = OverlapPolicy::kAllow;  // kSkip stands for every policy that takes slots
  OnLost on_lost = OnLost::kRetry;
  uint32_t shard_total = 1;
  std::string trace_id = {};  // trace id of the execute request; empty = derived from the run id
  // Why the rest of the task could not be read; "" for a task that was. Only what its claim and its
  // result need is set then: it is to be claimed and ended, never started. Not written.
  std::string unreadable = {};

  bool operator==(const TaskMessage&) const = default;
};

// The format in which records are written. Readers accept both and tell them apart by the
// first byte.
//   kBinary  a bundle: many tasks or results per record
//   kJson    one task or result per record, in Protobuf's JSON mapping with the field names of the
//            .proto; 64-bit numbers are strings, `output` is base64
enum class BusFormat { kBinary, kJson };
// "binary", "json"; binary for anything else.
BusFormat BusFormatOf(std::string_view name);
inline constexpr size_t TasksPerRecord(BusFormat format) {
  return format == BusFormat::kJson ? 1 : kBundleTasksMax;
}

// Checks what a writer cannot see in a definition: the sizes of what templates, parameters and
// Carillon's own variables make, which a decoder would refuse. kInvalid: a sentence for users.
Status CheckTask(const TaskMessage& task);

// At most TasksPerRecord(format) tasks; for JSON exactly one. Each must pass CheckTask.
std::string EncodeTasks(const std::vector<TaskMessage>& tasks,
                        BusFormat format = BusFormat::kBinary);

// An invalid task.
struct UnreadableTask {
  Error error;
  std::optional<TaskMessage> rest =
      {};  // with `unreadable` set; nullopt: not even its run is known
};
// With `unreadable`, invalid tasks of a bundle are added to it. Without it, one makes the whole
// record kCorrupt.
Result<std::vector<TaskMessage>> DecodeTasks(std::string_view bytes,
                                             std::vector<UnreadableTask>* unreadable = nullptr);

// A result of docs/protocol.md. Carillon finds the run by its key; job_id is for other readers.
struct ResultMessage {
  ResultReport report;
  JobId job_id;
};

std::string EncodeResults(const std::vector<ResultMessage>& results,
                          BusFormat format = BusFormat::kBinary);
// Decodes the results of a record, except those of segments for which `wanted` is false: they are
// skipped without being decoded or checked.
//
// With `unreadable`, invalid results of a bundle are skipped too, and their errors are added to
// `unreadable`. Without it, one invalid result makes the whole record kCorrupt; the executor would
// then repeat the valid results of the same bundle forever.
Result<std::vector<ResultMessage>> DecodeResults(std::string_view bytes,
                                                 std::vector<Error>* unreadable = nullptr,
                                                 const std::function<bool(SegmentId)>& wanted = {});

}  // namespace carillon
