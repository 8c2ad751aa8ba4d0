// Facts of an attempt's end as one text, for the database and for ends on disk:
// "usage=1500000,25165824,0,4096;http=503". Pure. No decision depends on the stored text.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/run/run.h"

namespace carillon {

// At most 200 bytes; empty if the result has no such fact.
std::string DetailToText(const AttemptResult& result);
// Sets the facts that `text` has. Parts that this version does not know, or cannot read, are
// skipped.
void ReadDetail(std::string_view text, AttemptResult& result);

}  // namespace carillon
