// Encodes and decodes saves and their answers on the control link.
#pragma once

#include "carillon/v1/control.pb.h"
#include "common/ports/executor_link.h"

namespace carillon::wire {

void Encode(const AttemptSave& from, v1::FromExecutor& message);
Result<FromExecutor> Decode(const v1::Save& from);
void Encode(const SaveAnswer& from, v1::ToExecutor& message);
Result<ToExecutor> Decode(const v1::SaveAnswer& from);

}  // namespace carillon::wire
