#include "executor/worker/worker_ticket.h"

#include "executor/journal/attempt_codec.h"

namespace carillon::executor {

WorkerTicket TicketOf(const HeldAttempt& held) {
  ByteWriter out;
  PutHeld(out, held);
  return out.Take();
}

std::optional<HeldAttempt> AttemptOf(const WorkerTicket& ticket) {
  ByteReader in(ticket);
  HeldAttempt held = GetHeld(in);
  if (!in.Finished() || held.attempt < 1 || held.token == ClaimToken{}) return std::nullopt;
  return held;
}

}  // namespace carillon::executor
