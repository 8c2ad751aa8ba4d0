// Encodes and decodes the request of a task of an http job, and texts with secrets.
//
// Errors   nullopt for what no member sends: an unknown method, a NUL, a text above its limit.
#pragma once

#include <optional>

#include "carillon/v1/task.pb.h"
#include "common/domain/job/http_request.h"

namespace carillon::wire {

void EncodeSecretText(const SecretText& pieces, v1::SecretText& to);
std::optional<SecretText> DecodeSecretText(const v1::SecretText& from, size_t bytes_max);

void EncodeHttpCall(const HttpCall& call, v1::HttpCall& to);
std::optional<HttpCall> DecodeHttpCall(const v1::HttpCall& from);

}  // namespace carillon::wire
