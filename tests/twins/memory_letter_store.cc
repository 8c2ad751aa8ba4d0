#include "tests/twins/memory_letter_store.h"

#include <algorithm>
#include <utility>

namespace carillon::memory {

Result<uint64_t> MemoryLetterStore::BeginPublishing(WallTime now) {
  MutexLock lock(tables_.mu);
  if (!tables_.first_published_letter) {
    std::pair<WallTime, uint64_t> last;  // of those that are too old
    for (const auto& [id, letter] : tables_.dead_letters) {
      if (letter.created < now - kLettersBeforeBegin) last = std::max(last, {letter.created, id});
    }
    tables_.first_published_letter = last.second + 1;
  }
  return *tables_.first_published_letter;
}

LetterToPublish MemoryLetterStore::Describe(const DeadLetter& letter) const {
  const JobEntry& job = *tables_.FindJob(letter.job_id);
  LetterToPublish described{
      .letter = letter, .job_name = job.definition.name, .name_space = job.definition.name_space};
  if (!job.unreadable.contains(job.version)) described.labels = job.definition.labels;
  const RunEntry* const run = tables_.FindRun(letter.key);
  if (run == nullptr) return described;
  described.started = run->result.started;
  described.ended = run->result.ended;
  described.executor = run->row.executor;
  described.exit_code = run->result.exit_code;
  described.error = run->result.error;
  return described;
}

Result<LettersToPublish> MemoryLetterStore::ScanUnpublished(uint64_t first, size_t limit) {
  MutexLock lock(tables_.mu);
  LettersToPublish page;
  const auto& letters = tables_.dead_letters;
  for (auto it = letters.lower_bound(first); it != letters.end(); ++it) {
    if (tables_.published_letters.contains(it->first)) continue;
    if (page.letters.size() < limit) page.letters.push_back(Describe(it->second));
    page.waiting = std::min(page.waiting + 1, kLettersCountedMax);
  }
  return page;
}

Result<LetterBacklog> MemoryLetterStore::GetBacklog() {
  MutexLock lock(tables_.mu);
  LetterBacklog backlog;
  if (!tables_.first_published_letter) return backlog;
  const auto& letters = tables_.dead_letters;
  for (auto it = letters.lower_bound(*tables_.first_published_letter); it != letters.end(); ++it) {
    if (tables_.published_letters.contains(it->first)) continue;
    if (backlog.waiting == 0) backlog.oldest = it->second.created;
    backlog.waiting = std::min(backlog.waiting + 1, kLettersCountedMax);
  }
  return backlog;
}

Status MemoryLetterStore::MarkPublished(const std::vector<uint64_t>& ids) {
  MutexLock lock(tables_.mu);
  for (const uint64_t id : ids) {
    if (tables_.dead_letters.contains(id)) tables_.published_letters.insert(id);
  }
  return {};
}

}  // namespace carillon::memory
