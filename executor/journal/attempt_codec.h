// Encodes attempts and their ends, for the warden's socket and the journals on disk.
//
// Errors   A Get* function that reads malformed bytes fails its reader (byte_codec.h).
// Always   A change of these layouts raises kAttemptCodecVersion; both users store the version.
#pragma once

#include "common/ports/executor_host.h"
#include "executor/journal/byte_codec.h"

namespace carillon::executor {

inline constexpr uint32_t kAttemptCodecVersion = 1;

void PutHeld(ByteWriter& out, const HeldAttempt& held);
HeldAttempt GetHeld(ByteReader& in);

void PutStart(ByteWriter& out, const StartAttempt& start);
StartAttempt GetStart(ByteReader& in);

void PutEnded(ByteWriter& out, const AttemptEnded& ended);
AttemptEnded GetEnded(ByteReader& in);

// An end on disk: the version, then the end.
void PutStoredEnd(ByteWriter& out, const AttemptEnded& ended);
AttemptEnded GetStoredEnd(ByteReader& in);

}  // namespace carillon::executor
