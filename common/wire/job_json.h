// Jobs, runs and their parts as the JSON of docs/api.md, and back. nlohmann stays in wire/, api/
// and cli/.
//
// Errors   Parse: kInvalid with the JSON pointer of the first offending field: unknown fields,
//          wrong types, names outside an enum, numbers that are not whole. Bounds are
//          ValidateJob's. kConflict: cron_expression and schedules were both changed and disagree.
//          `further` is given the mistakes after that first one.
//          Text: also kExhausted above kJsonBytesMax.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/domain/job.h"
#include "common/domain/run.h"
#include "common/ports/executor_store.h"
#include "common/ports/job_store.h"
#include "common/ports/run_store.h"

namespace carillon {

using Mistakes = std::vector<Error>;

struct ParsedJob {
  JobDefinition definition;
  std::string job_id;  // empty when the body names none
};

// A whole job as POST and PUT take it: missing fields are defaults; read-only fields that a GET
// returned (version, state, next_fire_time, allowed_actions, …) are accepted and ignored, so
// that what was read can be sent back. The result is validated.
Result<ParsedJob> ParseJob(const nlohmann::json& body, Mistakes* further = nullptr);
Result<ParsedJob> ParseJobText(std::string_view body);

// A whole job in the place of `job`, which the body may have been read from: of cron_expression
// (with time_zone) and schedules the one that was changed counts.
Result<ParsedJob> ParseReplacement(const StoredJob& job, const nlohmann::json& body,
                                   Mistakes* further = nullptr);

// RFC 7396 over the job as GET shows it, then ParseJob.
Result<ParsedJob> PatchJob(const StoredJob& job, const nlohmann::json& patch,
                           Mistakes* further = nullptr);

// A job as the REST API returns it. `cron_expression` is set when the job has exactly one cron schedule in the
// job's own zone, else null; `schedules` always lists all. next_fire_time: the least over the
// schedules strictly after `now`, null when paused or none.
nlohmann::json JobToJson(const StoredJob& job, WallTime now);
// The definition alone, lossless, for the store's version record.
std::string DefinitionToText(const JobDefinition& definition);
Result<JobDefinition> DefinitionFromText(std::string_view text);

// `with_attempts`: the shape by id.
nlohmann::json RunToJson(const RunDetail& run, bool with_attempts);
nlohmann::json GapToJson(const GapRecord& gap);
nlohmann::json ExecutorToJson(const ExecutorRecord& executor);

// Bytes as valid UTF-8: each maximal invalid subsequence becomes U+FFFD.
std::string ToValidUtf8(std::string_view bytes);

}  // namespace carillon
