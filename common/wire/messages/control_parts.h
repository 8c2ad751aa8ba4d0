// Parts that several messages of the control link have: attempts and records.
//
// Errors   Decode: as control_codec.h.
#pragma once

#include <string_view>
#include <vector>

#include "carillon/v1/control.pb.h"
#include "common/ports/executor_link.h"

namespace carillon::wire {

inline constexpr size_t kTextBytesMax = 1024;
inline constexpr int kAttemptsMax = 100'000;           // attempts in one message
inline constexpr size_t kControlBytesMax = 16u << 20;  // of a message
inline constexpr uint32_t kCountMax = 1'000'000;       // slots, attempts, processes

Error BadMessage(std::string_view what);

using Attempts = google::protobuf::RepeatedPtrField<v1::Attempt>;
void Encode(const HeldAttempt& from, v1::Attempt& to);
Result<HeldAttempt> Decode(const v1::Attempt& from);
void Encode(const std::vector<HeldAttempt>& from, Attempts& to);
Result<std::vector<HeldAttempt>> Decode(const Attempts& from);

void Encode(const CarriedRecord& from, v1::Record& to);
Result<CarriedRecord> Decode(const v1::Record& from);

}  // namespace carillon::wire
