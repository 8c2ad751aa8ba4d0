// Tickets: the names by which a worker and its executor call an attempt.
#pragma once

#include <optional>

#include "common/ports/executor_host.h"
#include "common/wire/messages/worker_codec.h"

namespace carillon::executor {

WorkerTicket TicketOf(const HeldAttempt& held);
// nullopt: not a ticket of this form.
std::optional<HeldAttempt> AttemptOf(const WorkerTicket& ticket);

}  // namespace carillon::executor
