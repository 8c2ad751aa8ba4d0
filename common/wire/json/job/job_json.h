// Converts jobs, runs and their parts to and from the JSON of docs/api.md. nlohmann is used only in
// wire/, api/ and cli/.
//
// Errors   Parse: kInvalid with the JSON pointer of the first offending field: unknown
//          fields, wrong types, unknown enum names, numbers that are not whole. ValidateJob
//          checks the bounds. kConflict: cron_expression and schedules were both changed and
//          disagree. `further` receives the mistakes after the first. Text: also kExhausted
//          above kJsonBytesMax.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/domain/calendar/calendar_set.h"
#include "common/domain/job/job.h"
#include "common/domain/run/run.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/run_store.h"

namespace carillon {

using Mistakes = std::vector<Error>;

struct ParsedJob {
  JobDefinition definition;
  std::string job_id;  // empty if the body has none
};

// A complete job, as in POST and PUT. Missing fields get their defaults. Read-only fields that a
// GET returns (version, state, next_fire_time, allowed_actions, …) are accepted and ignored, so
// that a client can send back what it has read. The result is validated. Without a job_id in the
// body, the caller sets the seeds of H (SetSpread) once it has an id.
Result<ParsedJob> ParseJob(const nlohmann::json& body, Mistakes* further = nullptr);
Result<ParsedJob> ParseJobText(std::string_view body);

// A complete job that replaces `job`. The body may be a response to GET in which the client changed
// only cron_expression (and time_zone) or only schedules; the field that was changed counts.
// Without `enabled`, a paused job stays paused.
Result<ParsedJob> ParseReplacement(const StoredJob& job, const nlohmann::json& body,
                                   Mistakes* further = nullptr);

// Applies the merge patch (RFC 7396) to the job as GET shows it, and parses the result as ParseJob.
Result<ParsedJob> PatchJob(const StoredJob& job, const nlohmann::json& patch,
                           Mistakes* further = nullptr);

// A job as the REST API returns it. `cron_expression` is null unless the job's only schedule is a
// cron schedule in the job's own zone. `schedules` always lists all schedules. `next_fire_time` is
// the earliest fire of all schedules strictly after `now`; null if there is none, if the
// job is paused, or if `calendars` lacks a calendar that a schedule names. With `calendars`,
// `schedule_problem` says why a schedule of a job that is not paused cannot be planned; without
// such a schedule it is absent.
nlohmann::json JobToJson(const StoredJob& job, WallTime now,
                         const CalendarSet* calendars = nullptr);
// The definition alone, for the version records of the store: lossless for a reader that knows
// the job.
std::string DefinitionToText(const JobDefinition& definition);
Result<JobDefinition> DefinitionFromText(std::string_view text, const JobId& id);

// `with_attempts`: the form returned for a single run.
nlohmann::json RunToJson(const RunDetail& run, bool with_attempts);
nlohmann::json GapToJson(const GapRecord& gap);
nlohmann::json ExecutorToJson(const ExecutorRecord& executor);
// The start-up report of an executor, as a list.
nlohmann::json HostChecksToJson(const std::vector<HostCheck>& checks);

// Makes valid UTF-8: each maximal invalid subsequence becomes U+FFFD.
std::string ToValidUtf8(std::string_view bytes);

}  // namespace carillon
