// Encodes attempts and their ends, for the warden's socket and the journals on disk.
//
// Errors   A Get* function that reads malformed bytes fails its reader (byte_codec.h).
// Always   A change of these layouts raises kAttemptCodecVersion; both users store the version.
#pragma once

#include "common/ports/executor_host.h"
#include "executor/journal/byte_codec.h"

namespace carillon::executor {

inline constexpr uint32_t kAttemptCodecVersion = 1;
// The version of a stored end with outputs. Ends without outputs keep the older version, which
// programs from before outputs can read.
inline constexpr uint32_t kStoredOutputsVersion = 2;
// The version of a stored end with the facts of result_detail.h.
inline constexpr uint32_t kStoredDetailVersion = 3;

void PutHeld(ByteWriter& out, const HeldAttempt& held);
HeldAttempt GetHeld(ByteReader& in);

void PutStart(ByteWriter& out, const StartAttempt& start);
StartAttempt GetStart(ByteReader& in);

// An end without its outputs.
void PutEnded(ByteWriter& out, const AttemptEnded& ended);
AttemptEnded GetEnded(ByteReader& in);

// An end with its outputs.
void PutEndedOutputs(ByteWriter& out, const AttemptEnded& ended);
AttemptEnded GetEndedOutputs(ByteReader& in);

// An end with its outputs and the facts of result_detail.h.
void PutEndedWhole(ByteWriter& out, const AttemptEnded& ended);
AttemptEnded GetEndedWhole(ByteReader& in);

// An end on disk: the version, then the end in the layout of that version.
void PutStoredEnd(ByteWriter& out, const AttemptEnded& ended);
AttemptEnded GetStoredEnd(ByteReader& in);

}  // namespace carillon::executor
