#include "common/wire/messages/save_codec.h"

#include <utility>

#include "common/domain/job_text.h"
#include "common/wire/messages/control_parts.h"

namespace carillon::wire {

void Encode(const AttemptSave& from, v1::FromExecutor& message) {
  v1::Save& to = *message.mutable_save();
  const RunSave& save = from.save;
  Encode(HeldAttempt{.key = save.key,
                     .segment = save.segment,
                     .job_no = save.job_no,
                     .attempt = save.attempt,
                     .token = save.token},
         *to.mutable_attempt());
  to.set_seq(save.seq);
  if (save.progress) {
    v1::Progress& progress = *to.mutable_progress();
    if (save.progress->percent)
      progress.set_percent(static_cast<uint32_t>(*save.progress->percent));
    progress.set_text(save.progress->text);
  }
  if (save.checkpoint) to.set_checkpoint(*save.checkpoint);
}

Result<FromExecutor> Decode(const v1::Save& from) {
  CARILLON_ASSIGN_OR_RETURN(const HeldAttempt held, Decode(from.attempt()));
  if (from.seq() > static_cast<uint64_t>(INT64_MAX)) return BadMessage("seq");
  RunSave to{.key = held.key,
             .segment = held.segment,
             .job_no = held.job_no,
             .attempt = held.attempt,
             .token = held.token,
             .seq = from.seq()};
  if (from.has_progress()) {
    const v1::Progress& progress = from.progress();
    const bool good = progress.percent() <= 100 && progress.text().size() <= kProgressBytesMax &&
                      CountUtf8(progress.text());
    if (!good) return BadMessage("progress");
    to.progress.emplace().text = progress.text();
    if (progress.has_percent()) to.progress->percent = static_cast<int>(progress.percent());
  }
  if (from.checkpoint().size() > kCheckpointBytesMax) return BadMessage("checkpoint");
  if (from.has_checkpoint()) to.checkpoint = from.checkpoint();
  return FromExecutor(AttemptSave{std::move(to)});
}

void Encode(const SaveAnswer& from, v1::ToExecutor& message) {
  v1::SaveAnswer& to = *message.mutable_save_answer();
  Encode(from.attempt, *to.mutable_attempt());
  to.set_seq(from.seq);
  to.set_kept(from.kept);
}

Result<ToExecutor> Decode(const v1::SaveAnswer& from) {
  CARILLON_ASSIGN_OR_RETURN(const HeldAttempt held, Decode(from.attempt()));
  return ToExecutor(SaveAnswer{.attempt = held, .seq = from.seq(), .kept = from.kept()});
}

}  // namespace carillon::wire
