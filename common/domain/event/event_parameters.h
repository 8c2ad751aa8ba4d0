// The parameters that a trigger makes of an event. Pure.
//
//   {{event.id}} {{event.source}} {{event.type}} {{event.subject}} {{event.data.a.b}}
//   {{fire_time}} {{fire_date}} {{fire_time.local}}    of the moment of acceptance (fire_date.h)
//
// Grammar as in node_template.h: {{{{ stands for a literal {{; a text that is nothing but one
// placeholder takes the value with its type; a list or an object becomes its JSON text. Values are
// inserted unchanged and are not templates themselves.
//
// A value is untrusted if a text of the event went into it, unless a rule of the job leaves it only
// a choice, a number or a boolean. An untrusted value must not become part of a command
// (command_parameters.h).
#pragma once

#include "common/domain/event/event.h"
#include "common/domain/job/job.h"
#include "common/domain/template/node_template.h"

namespace carillon {

// The result's `event` is the origin. kInvalid with "/parameters/NAME": a placeholder has no value
// in this event, or the values break the job's rules or the limits of parameters. The sentence
// quotes nothing of the payload.
Result<RenderedParameters> RenderEventParameters(const JobDefinition& job, const ScheduleSpec& spec,
                                                 const Event& event, WallTime fire);

// True if the value has a placeholder, so that its rule can only be asked when an event comes.
bool HasEventPlaceholder(const ParameterValue& value);

// The mistakes in the triggers of a job, with a pointer below "/schedules/i": filters, unknown
// placeholders, and text of an event that would reach the job's command.
Status CheckEventTriggers(const JobDefinition& job);

}  // namespace carillon
