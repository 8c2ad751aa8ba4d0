#include "common/link_bus/carrying_link.h"

#include <utility>

#include "common/base/log.h"

namespace carillon::link_bus {

// Members send few records, so the loop ends soon: at most credits of this executor are on the way.
std::vector<MemberMessage> CarryingLink::Receive(size_t max) {
  std::vector<MemberMessage> others;
  bool more = true;
  while (more && others.size() < max) {
    const size_t asked = max - others.size();
    std::vector<MemberMessage> received = link_.Receive(asked);
    more = received.size() == asked;
    for (MemberMessage& message : received) {
      if (auto* carried = std::get_if<CarriedRecord>(&message.message)) {
        Take(message.member, std::move(*carried));
      } else {
        others.push_back(std::move(message));
      }
    }
  }
  return others;
}

void CarryingLink::Take(const MemberId& from, CarriedRecord carried) {
  if (carried.topic != kTasksTopic) {
    metrics_.counter("carillon_rejected_messages_total", "topic").Add();
    log::Warn("link", "a record of topic {} is refused member={}", carried.topic, from.value());
    return;
  }
  const Status kept = local_.Send(carried.topic, carried.partition_key, std::move(carried.record));
  if (!kept.ok()) metrics_.counter("carillon_queue_rejections_total", "bus").Add();
}

Status CarryingLink::Send(std::string_view topic, uint64_t partition_key, BusRecord record,
                          Delivered /*delivered*/) {
  const std::vector<MemberId> members = link_.Members();
  Status last{ErrorCode::kUnavailable, "link: no member of the scheduler can be reached"};
  bool sent = false;
  for (const MemberId& member : members) {
    last = link_.Send(member, CarriedRecord{std::string(topic), partition_key, record});
    sent = sent || last.ok();
  }
  return sent ? Status() : last;
}

}  // namespace carillon::link_bus
