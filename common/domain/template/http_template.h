// Renders the placeholders of an http job for one attempt. Pure.
//
// Inserted values cannot leave their place: in the path and the query of the URL they are
// percent-encoded, in a JSON or a form body they are escaped (BodyFormatOf), and in a header they
// may have no line break. In the host part of the URL only the characters of a host and a port may
// be inserted.
#pragma once

#include <set>
#include <string>

#include "common/domain/job/http_request.h"
#include "common/domain/template/template.h"

namespace carillon {

// kInvalid: as RenderAttempt.
Result<HttpCall> RenderHttp(const HttpDefinition& http, const AttemptFacts& facts);

// The parameters of the job whose values are inserted unchanged: those in the host part, and in a
// body that is neither JSON nor a form.
std::set<std::string> PlainHttpParameters(const HttpDefinition& http);

}  // namespace carillon
