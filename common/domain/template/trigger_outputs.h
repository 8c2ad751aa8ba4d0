// Parameters of a schedule of kind `after` that ask for outputs of the run before. Pure.
//
//   {{trigger.outputs.NAME}}                                       of the run that ended
//   {{trigger.run_id}} {{trigger.state}} {{trigger.fire_time}}     likewise
//   {{fire_time}} {{fire_date}} {{fire_time.local}}                of the run that it starts
//
// Place    The transaction that starts a run after another one renders them into the run's own
//          parameters: at an attempt, the outputs may be gone, or those of a retry. All other
//          parameters stay with the schedule (FillTrigger).
// Always   A text that asks for an output is a template as a whole: {{{{ stands for a literal {{,
//          and its value is untrusted, unless a rule of the job leaves it only a choice.
#pragma once

#include <set>
#include <string>

#include "common/domain/job/job.h"
#include "common/domain/template/node_template.h"

namespace carillon {

// True if the text has a placeholder of an output, also if it is malformed elsewhere.
bool AsksForOutputs(const ParameterValue& value);
bool AsksForOutputs(const ScheduleSpec& spec);
bool AsksForOutputs(const JobDefinition& job);  // in any schedule of kind `after`

// The names of the outputs in it. Empty if it cannot be parsed.
std::set<std::string> OutputsAskedBy(const ParameterValue& value);

// The parameters of the schedule that ask for outputs. kInvalid with "/parameters/NAME": the run
// has no such output, or the values break the job's rules or the limits of parameters. The sentence
// quotes no value.
Result<RenderedParameters> RenderTriggerOutputs(const JobDefinition& job, const ScheduleSpec& spec,
                                                const RunTrigger& trigger, const Outputs& outputs,
                                                WallTime fire);

// Fails if a parameter of the schedule asks for an output and `given`, the run's own values, do not
// have it: an edit came between the start of the run and its attempt.
Status CheckOutputsGiven(const ScheduleSpec& spec, const Parameters& given);

// The mistakes in such parameters, with a pointer below "/schedules/i": unknown placeholders, rules
// that no text fits, and outputs that would reach the job's command. Does not look at the job
// before.
Status CheckTriggerOutputs(const JobDefinition& job);

}  // namespace carillon
